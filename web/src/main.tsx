// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
import { render } from 'preact';
import { App } from './app.tsx';
import { startKeys } from './keys.ts';
import { lookForFleet } from './live/fleet.ts';
import { start } from './live/live.ts';
import { awaitMarks, findRecording, recording } from './live/recording.ts';
import { keepParameters, startRouting } from './route.ts';
import { startTheme } from './theme.ts';
import './style.css';

startTheme();
startRouting();
startKeys();
await findRecording(); // a page of the present shares its stream with other tabs
if (recording.peek()) keepParameters(['at', 'recording']);
start();
lookForFleet();
void awaitMarks();
render(<App />, document.getElementById('page')!);
