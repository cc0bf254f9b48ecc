// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
import { render } from 'preact';
import { App } from './app.tsx';
import { startKeys } from './keys.ts';
import { start } from './live/live.ts';
import { startRouting } from './route.ts';
import { startTheme } from './theme.ts';
import './style.css';

startTheme();
startRouting();
startKeys();
start();
render(<App />, document.getElementById('page')!);
