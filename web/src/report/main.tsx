// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
import { render } from 'preact';
import { tellUtc } from '../format/units.ts';
import { startTheme } from '../theme.ts';
import '../style.css';
import './report.css';
import type { ReportDocument } from './documents.ts';
import { Report } from './report.tsx';

startTheme();
tellUtc();
const report = JSON.parse(document.getElementById('report')!.textContent!) as ReportDocument;
render(<Report of={report} />, document.getElementById('page')!);
