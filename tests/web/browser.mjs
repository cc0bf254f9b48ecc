// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A real Chromium that does as tests/web/browser.py says: reads one JSON object a line, {"code": the
// body of an async function with `page`, "argument"}, and answers {"value"} or {"problem"}.
// Everything that a page should not do is collected in `page.wrongs`.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [chromiumPath, web] = process.argv.slice(2);
const need = createRequire(`${web}/package.json`);
const { chromium } = need('playwright-core');
const axe = readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8');
const Code = Object.getPrototypeOf(async () => {}).constructor;

// A machine with many other jobs is slow (tests/support/waiting.py).
const DEADLINE_MS = 120_000;
const browser = await chromium.launch({ executablePath: chromiumPath, timeout: DEADLINE_MS, args: ['--font-render-hinting=none', '--disable-lcd-text'] });
let context, page;

async function fresh({ host, ...settings }) {
  await context?.close();
  context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...settings });
  context.setDefaultTimeout(DEADLINE_MS);
  page = await context.newPage();
  page.wrongs = [];
  page.on('pageerror', (error) => page.wrongs.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // A lost connection is told by the browser, and is no fault of the page.
    if (message.type() === 'error' && !/ERR_(CONNECTION|EMPTY|INCOMPLETE|NETWORK)/.test(message.text())) {
      page.wrongs.push(`console: ${message.text()}`);
    }
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.hostname !== host && url.protocol !== 'blob:') page.wrongs.push(`asked ${url}`);
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const { code, argument, fresh: settings } = JSON.parse(line);
  try {
    if (settings) await fresh(settings);
    const value = code ? await new Code('page', 'argument', 'axe', code)(page, argument, axe) : null;
    process.stdout.write(JSON.stringify({ value: value ?? null }) + '\n');
  } catch (problem) {
    process.stdout.write(JSON.stringify({ problem: String(problem?.message ?? problem) }) + '\n');
  }
}
await browser.close();
