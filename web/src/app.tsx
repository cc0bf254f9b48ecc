// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The frame of the page: where one is, whether the figures are live, and the view itself.
import { useEffect, useRef, useState } from 'preact/hooks';
import { connection, deviceIds, host, now, pausedSince, received, setToken, togglePause } from './live/live.ts';
import { helpOpen, KEYS, VIEWS } from './keys.ts';
import { parts, path } from './route.ts';
import { dark, toggleTheme } from './theme.ts';
import { clockText, durationText } from './format/units.ts';
import { visible } from './format/words.ts';
import { recording } from './live/recording.ts';
import { Dropping } from './parts/dropping.tsx';
import { Empty } from './parts/text.tsx';
import { TimeBar } from './parts/time_bar.tsx';
import { Compare } from './views/compare.tsx';
import { DeviceView } from './views/device.tsx';
import { Events } from './views/events.tsx';
import { FailuresView, FailureView } from './views/failures.tsx';
import { Fleet } from './views/fleet.tsx';
import { Health } from './views/health.tsx';
import { Holdings } from './views/holdings.tsx';
import { Jobs, JobView } from './views/jobs.tsx';
import { Leaks } from './views/leaks.tsx';
import { Origins } from './views/origins.tsx';
import { Overview } from './views/overview.tsx';
import { Dead, Processes } from './views/processes.tsx';
import { ProcessView } from './views/process.tsx';
import { Programs } from './views/programs.tsx';
import { Recordings } from './views/recordings.tsx';
import { Time } from './views/time.tsx';

function View() {
  const [first = '', second, third, fourth] = parts.value;
  if (first === 'd' && second !== undefined) {
    return <DeviceView key={second} id={Number(second)} core={third === 'c' && fourth ? fourth : null} />;
  }
  if (first === 'p') return second ? <ProcessView key={second} name={second} /> : <Processes />;
  if (first === 'failures') return second && third ? <FailureView key={path.value} whose={second} number={Number(third)} /> : <FailuresView />;
  if (first === 'holdings') return <Holdings />;
  if (first === 'origins') return <Origins />;
  if (first === 'dead') return <Dead />;
  if (first === 'recordings') return <Recordings />;
  if (first === 'leaks') return <Leaks />;
  if (first === 'jobs') return second ? <JobView key={second} name={second} /> : <Jobs />;
  if (first === 'fleet') return <Fleet />;
  if (first === 'programs') return <Programs />;
  if (first === 't') return <Time />;
  if (first === 'compare') return <Compare />;
  if (first === 'events') return <Events />;
  if (first === 'health') return <Health />;
  if (first === '') return <Overview />;
  return (
    <>
      <h1>No such view</h1>
      <Empty title={`There is nothing at ${visible(path.value)}.`}>
        <p><a href="/">Overview</a></p>
      </Empty>
    </>
  );
}

// Comparing two moments belongs to the time, a device to the overview.
const isAt = (view: string): boolean => (view === '/t' && path.value === '/compare') || (view === '/' ? path.value === '/' || path.value.startsWith('/d/') : path.value === view || path.value.startsWith(`${view}/`));

function Navigation() {
  const views = VIEWS.filter((view) => view.when?.() ?? true);
  // On a narrow screen the row is longer than it is seen, and some views come with the first figures.
  useEffect(() => document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [path.value, views.length]);
  return (
    <nav aria-label="Views">
      {views.map((view) => (
        <a key={view.path} href={view.path} aria-current={isAt(view.path) ? 'page' : undefined} title={`${view.title} (${view.key})`}>
          {view.title}
        </a>
      ))}
    </nav>
  );
}

function Status() {
  const state = connection.value.state;
  const paused = pausedSince.value !== null;
  const word = paused ? 'paused' : state === 'live' ? (recording.value ? 'recording' : 'live') : state === 'lost' ? 'not connected' : state === 'token' ? 'token needed' : 'connecting';
  const kind = paused ? 'warn' : state === 'live' ? 'good' : state === 'lost' ? 'bad' : '';
  return (
    <div class="status">
      <span class={state === 'live' && !paused ? 'clock' : 'clock stale'} title="time of the last figures">{received.value ? clockText(now.value) : ''}</span>
      <span class={`state ${kind}`} role="status" data-state={word}>{word}</span>
      {!recording.value && <button type="button" class="small" onClick={togglePause} title="Space">{paused ? 'Go on' : 'Pause'}</button>}
      <button type="button" class="small" onClick={toggleTheme} title="d">{dark.value ? 'Light' : 'Dark'}</button>
      <button type="button" class="small" onClick={() => (helpOpen.value = true)} aria-label="Keys" title="?">?</button>
    </div>
  );
}

// Says since when, once per second.
function Banner() {
  const [, tick] = useState(0);
  const lost = connection.value.state === 'lost' ? connection.value : null;
  const since = lost?.since ?? pausedSince.value;
  useEffect(() => {
    if (since === null) return;
    const timer = setInterval(() => tick(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [since]);
  if (since === null) return null;
  const seconds = durationText((Date.now() - since) * 1e6);
  return (
    <div class={lost ? 'banner bad' : 'banner warn'} data-banner={lost ? 'lost' : 'paused'}>
      {lost
        ? `No connection to ttmem serve for ${seconds}. What is shown is from ${clockText(now.value)}; it goes on by itself when the daemon is back.`
        : `Paused for ${seconds}. What is shown is from ${clockText(now.value)}; what you open now, and is not kept from then, says that it is of now.`}
    </div>
  );
}

function TokenForm({ refused }: { refused: boolean }) {
  const [text, setText] = useState('');
  return (
    <form class="empty" onSubmit={(event) => { event.preventDefault(); setToken(text); }}>
      <h1>This daemon asks for its token</h1>
      <p>It is in the file that <code>ttmem serve</code> was started with: <code>--token-file FILE</code>. The page forgets it when it is closed.</p>
      <label>Token <input type="password" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} /></label>{' '}
      <button type="submit">Go on</button>
      {refused && <p class="problem" role="alert">The daemon has another token.</p>}
    </form>
  );
}

function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (helpOpen.value && !dialog.current?.open) dialog.current?.showModal();
    if (!helpOpen.value) dialog.current?.close();
  }, [helpOpen.value]);
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={() => (helpOpen.value = false)}>
      <h2 id="keys-title">Keys</h2>
      <table class="plain-table">
        <tbody>
          <tr>
            <th scope="row">Views</th>
            <td><ul class="view-keys">{VIEWS.map((view) => <li key={view.key}><kbd>{view.key}</kbd> {view.title}</li>)}</ul></td>
          </tr>
          {KEYS.map(([key, what]) => (
            <tr key={key}><th scope="row"><kbd>{key}</kbd></th><td>{what}</td></tr>
          ))}
        </tbody>
      </table>
      <p class="quiet">In a filter: words, or conditions such as <code>space=l1 size&gt;64K op=conv -process=python3</code>.</p>
      <p class="quiet">
        <a href="/api" target="_blank" rel="noopener">What programs can ask for</a>,{' '}
        <a href="/licences.txt" target="_blank" rel="noopener">licences</a> of what this page is built with.
      </p>
      <button type="button" onClick={() => (helpOpen.value = false)}>Close</button>
    </dialog>
  );
}

// What tells one tab, and one step back, from another.
function titleOf([first, second, third, fourth]: string[]): string | null {
  if (first === undefined) return null;
  if (first === 'd' && second !== undefined) return `Device ${second}${third === 'c' && fourth ? `, core ${fourth}` : ''}`;
  if (first === 'p' && second) return `Process ${second.split('-')[0]}`;
  if (first === 'failures' && second && third) return `Failure ${third} of ${second.split('-')[0]}`;
  if (first === 'jobs' && second) return `Job ${second}`;
  if (first === 'compare') return 'Compare';
  return VIEWS.find((view) => view.path === `/${first}`)?.title ?? 'No such view';
}

export function App() {
  useEffect(() => {
    const title = titleOf(parts.value);
    document.title = `${title === null ? '' : `${visible(title)} - `}ttmem${host.value ? ` on ${visible(host.value)}` : ''}`;
  }, [path.value, host.value]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById('main')?.focus(); }}>Skip to the figures</a>
      <header class="top">
        <a class="brand" href="/">ttmem</a>
        <span class="host" title={`${deviceIds.value.length} devices`}>{visible(host.value)}</span>
        <Navigation />
        <Status />
      </header>
      <Banner />
      <Dropping />
      <TimeBar />
      <main id="main" tabIndex={-1}>
        {connection.value.state === 'token' ? <TokenForm refused={connection.value.refused} /> : received.value ? <View /> : <Waiting />}
      </main>
      <Help />
    </>
  );
}

const Waiting = () => (
  <>
    <h1 class="unseen">ttmem</h1>
    <p class="quiet waiting">{connection.value.state === 'lost' ? 'The daemon does not answer.' : 'Waiting for the first figures…'}</p>
  </>
);
