// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The whole of a report, from top to bottom: what somebody wants to know first stands first.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Legend } from '../parts/bar.tsx';
import { DRAM_PARTS, L1_PARTS, NamedBars, PEAK } from '../parts/device_bars.tsx';
import { Badge, Name } from '../parts/text.tsx';
import { countText, dateText, nounText } from '../format/units.ts';
import { KIND_WORDS, visible, visibleLines } from '../format/words.ts';
import { dark, toggleTheme } from '../theme.ts';
import { Findings } from '../views/explain.tsx';
import type { ReportDocument } from './documents.ts';
import { Holders } from './holders.tsx';
import { L1 } from './l1.tsx';
import { OverTime } from './over_time.tsx';
import { Programs } from './programs.tsx';

const Section = ({ id, title, children }: { id: string; title: string; children: ComponentChildren }) => (
  <section id={id} aria-labelledby={`${id}-title`}>
    <h2 id={`${id}-title`}>{title}</h2>
    {children}
  </section>
);

function Devices({ of }: { of: ReportDocument }) {
  return (
    <>
      <div class="panels">
        {of.devices.map((device) => (
          <article key={device.id} class="panel" data-device={device.id}>
            <h3>Device {device.id} <span class="quiet">{device.board ? visible(device.board) : device.arch}{device.mock && ' (mock)'}</span></h3>
            <NamedBars device={device} />
          </article>
        ))}
      </div>
      <Legend parts={[...DRAM_PARTS, ...L1_PARTS, PEAK]} />
      {of.other_devices > 0 && <p class="quiet">And {nounText(of.other_devices, 'more device')}.</p>}
    </>
  );
}

function Processes({ of }: { of: ReportDocument }) {
  return (
    <>
      <div class="wide" tabIndex={0} role="group" aria-label="Processes">
        <table class="plain-table">
          <thead>
            <tr><th scope="col">Process</th><th scope="col" class="number">PID</th><th scope="col">User</th><th scope="col">Started</th><th scope="col">Ended</th><th scope="col" class="number">Events</th><th scope="col">Command</th></tr>
          </thead>
          <tbody>
            {of.processes.map((each) => (
              <tr key={`${each.pid} ${each.start}`}>
                <td><Name of={each.name} /></td>
                <td class="number">{each.pid}</td>
                <td><Name of={each.user} /></td>
                <td>{dateText(each.started_ns)}</td>
                <td>{each.alive ? 'runs' : each.ended === 'died' ? <Badge kind="bad">died</Badge> : dateText(each.ended_ns)}</td>
                <td class="number">{countText(each.events)}</td>
                <td class="mono"><Name of={each.command} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {of.other_processes > 0 && <p class="quiet">And {nounText(of.other_processes, 'more process')}.</p>}
    </>
  );
}

function Failures({ of }: { of: ReportDocument }) {
  if (of.failures.length === 0) return <p class="quiet">Nothing failed, as far as processes keep their failures.</p>;
  return (
    <>
      {of.failures.map((each) => (
        <article key={`${each.pid} ${each.start} ${each.failure.number}`} class="panel failure" data-failure={each.failure.number}>
          <h3>{KIND_WORDS[each.failure.kind] ?? each.failure.kind} <span class="quiet">process {each.pid}, {dateText(each.failure.time_ns)}</span></h3>
          <Findings of={each} />
          <details>
            <summary>In the runtime's words</summary>
            <p class="mono message">{visibleLines(each.failure.message ?? '')}</p>
          </details>
        </article>
      ))}
      {of.other_failures > 0 && <p class="quiet">And {countText(of.other_failures)} more, which nobody kept or for which there was no room.</p>}
    </>
  );
}

const PARTS: [string, string][] = [['time', 'Over time'], ['holders', 'Who holds it'], ['l1', 'L1'], ['programs', 'Programs'], ['failures', 'Failures'], ['processes', 'Processes']];

export function Report({ of }: { of: ReportDocument }) {
  const [title] = useState(() => (document.title = `ttmem report: ${of.of}`));
  return (
    <>
      <header class="top">
        <span class="brand">ttmem report</span>
        <span class="host">{visible(of.host)}</span>
        <nav aria-label="Parts">{PARTS.map(([id, word]) => <a key={id} href={`#${id}`}>{word}</a>)}</nav>
        <div class="status"><button type="button" class="small" onClick={toggleTheme}>{dark.value ? 'Light' : 'Dark'}</button></div>
      </header>
      <main id="main" class="report">
        <h1>{visible(title.slice('ttmem report: '.length))}</h1>
        <ul class="summary">{of.summary.map((each) => <li key={each}>{visible(each)}</li>)}</ul>
        <Section id="time" title="Memory over time"><OverTime of={of} /></Section>
        <Section id="holders" title={of.recorded ? 'Who held it at the peak' : 'Who holds it'}><Holders of={of} /></Section>
        <Section id="devices" title={of.recorded ? 'Devices at the peak of all together' : 'Devices'}><Devices of={of} /></Section>
        <Section id="l1" title="L1"><L1 of={of} /></Section>
        <Section id="programs" title="Programs"><Programs of={of} /></Section>
        <Section id="failures" title="Failures and clashes"><Failures of={of} /></Section>
        <Section id="processes" title="Processes"><Processes of={of} /></Section>
        <p class="quiet">Made by ttmem {of.version} at {dateText(of.time_ns)} of the run. All times are UTC. This file is complete: it asks nobody for anything.</p>
      </main>
    </>
  );
}
