// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The cores of a device as a heat map, and the L1 of the chosen one.
import { ask, useDocument } from '../live/ask.ts';
import type { CoreL1, CoresDocument, Device, Holding, Program } from '../live/documents.ts';
import { Copy } from '../parts/copy.tsx';
import { CoreMap, HEATS, Scale, valueText, type Heat } from '../parts/core_map.tsx';
import { L1Column } from '../parts/l1_column.tsx';
import { Bytes, Name, Problem } from '../parts/text.tsx';
import { chipOf, coreName, launchesOn, notListed } from '../format/cores.ts';
import { csvText } from '../format/csv.ts';
import { nounText } from '../format/units.ts';
import { ROLE_WORDS } from '../format/words.ts';
import { go, parameter, parameters, setParameters } from '../route.ts';
import { loadHoldings } from './holdings.tsx';

const EVERY_MS = 1000;
const LAUNCHES = { name: 'launches', title: 'Launches per second' };
const CHOICES = [...HEATS, LAUNCHES];

// Compared with the busiest core.
function launchesHeat(cores: CoreL1[], programs: Program[]): Heat {
  const value = (core: CoreL1) => (core.role === 'worker' ? launchesOn(core, programs) : null);
  const most = Math.max(0, ...cores.map((core) => value(core) ?? 0));
  return { ...LAUNCHES, value, whole: () => most || 1, rate: true };
}

interface Opened {
  core: CoreL1 | undefined;
  holdings: Holding[];
}

// A core, and of the same moment what lies in L1, with its lines: each question can name one space.
async function loadCore(path: string, signal: AbortSignal): Promise<Opened> {
  const holdings = path.replace(/\/devices\/(\d+)\/.*/, '/holdings?device=$1');
  const [cores, ...parts] = await Promise.all([
    ask<CoresDocument>(path, signal),
    ...['kind=buffer&space=l1', 'kind=buffer&space=l1_small', 'kind=range'].map((part) => loadHoldings(`${holdings}&${part}`, signal)),
  ]);
  return { core: cores.devices[0]?.cores[0], holdings: parts.flatMap((each) => each.holdings) };
}

const CSV = ['type', 'x', 'y', 'role', 'noc_x', 'noc_y', 'l1_bytes', 'fixed', 'ring', 'program_l1', 'gaps', 'free', 'buffers', 'l1_small', 'headroom', 'headroom_reserved', 'reserved', 'kernel_footprint', 'ring_used'] as const;

export function Cores({ device, chosen }: { device: Device; chosen: string | null }) {
  const path = `/api/v1/devices/${device.id}/cores`;
  const wanted = CHOICES.find((each) => each.name === parameter('heat')) ?? HEATS[0]!;
  const { data, problem, note } = useDocument<CoresDocument>(path, EVERY_MS).value;
  const programs = useDocument<{ programs: Program[] }>(wanted === LAUNCHES ? `/api/v1/programs?device=${device.id}` : null, EVERY_MS).value;
  const cores = data?.devices[0]?.cores ?? [];
  const how = wanted === LAUNCHES ? launchesHeat(cores, programs.data?.programs ?? []) : (wanted as Heat);
  const text = parameters.value.toString();
  const open = (core: CoreL1) =>
    go((coreName(core) === chosen ? `/d/${device.id}` : `/d/${device.id}/c/${coreName(core)}`) + (text ? `?${text}` : ''));
  return (
    <section aria-label="Cores">
      <h2>Cores</h2>
      <div class="table-head">
        <label>
          Show{' '}
          <select value={how.name} onChange={(event) => setParameters({ heat: event.currentTarget.value === 'used' ? null : event.currentTarget.value })}>
            {CHOICES.map((each) => (
              <option key={each.name} value={each.name}>
                {each.title}
              </option>
            ))}
          </select>
        </label>
        <Scale how={how} most={how.rate ? 'most' : 'all'} />
        {data && <span class="quiet">{nounText(cores.filter((core) => core.role === 'worker').length, 'worker core')}; choose one to see its L1</span>}
        <Copy json={path} csv={() => csvText([[...CSV], ...cores.map((core) => CSV.map((name) => core[name]))])} command={`ttmem status --device ${device.id} --cores`} png name="cores" />
      </div>
      <Problem text={problem ?? programs.problem} note={note} />
      <div class={chosen ? 'cores with-core' : 'cores'} data-picture>
        {cores.length > 0 && <CoreMap cores={cores} how={how} chosen={chosen} onChoose={open} label={`${how.title} on the cores of device ${device.id}`} />}
        {chosen && <OneCore id={device.id} name={chosen} />}
      </div>
      {cores.length > 0 && <Where device={device} cores={cores} />}
      {cores.length > 0 && <AsTable id={device.id} cores={cores} how={how} />}
    </section>
  );
}

// What the picture is true to, and what it does not show.
function Where({ device, cores }: { device: Device; cores: CoreL1[] }) {
  const missing = notListed(device.arch, cores);
  return (
    <p class="quiet">
      {chipOf(cores).byNetwork ? 'Cores stand as they lie on the chip.' : 'Cores stand in the order of their coordinates: where they lie on the chip was not reported. Ethernet cores are above the workers.'}
      {missing !== null && ` ${nounText(missing, 'Tensix core')} of this chip ${missing === 1 ? 'is' : 'are'} not here: harvested, or not reported by the runtime.`}
    </p>
  );
}

function OneCore({ id, name }: { id: number; name: string }) {
  const path = `/api/v1/devices/${id}/cores?map=1&core=${encodeURIComponent(name)}`;
  const { data, problem, note } = useDocument<Opened>(path, EVERY_MS, loadCore).value;
  const core = data?.core;
  return (
    <section class="panel one-core" aria-label={`Core ${name}`}>
      <h3>
        Core {name} {core && core.role !== 'worker' && <span class="quiet">{ROLE_WORDS[core.role] ?? core.role}</span>} <a class="small" href={`/d/${id}`}>close</a>
      </h3>
      <Problem text={problem} note={note} />
      {data && !core && <p class="quiet">There is no such core.</p>}
      {core?.clash && (
        <p class="problem">
          Clash: program <Name of={core.clash.program} none="(none)" /> and buffer <Name of={core.clash.buffer} none="(none)" /> of{' '}
          <Name of={core.clash.process} /> {core.clash.pid} overlap by <Bytes value={core.headroom === null ? null : -core.headroom} />.
        </p>
      )}
      {core && <L1Column core={core} holdings={data?.holdings ?? []} />}
      {core?.kernels && core.kernels.length > 0 && (
        <ul class="core-kernels" aria-label="Kernels">
          {core.kernels.map((kernel, i) => (
            <li key={i}>
              <Name of={kernel.name} none={kernel.processor} /> <span class="quiet">{kernel.type}, {kernel.processor}</span> <Bytes value={kernel.bytes} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function AsTable({ id, cores, how }: { id: number; cores: CoreL1[]; how: Heat }) {
  return (
    <details>
      <summary>{nounText(cores.length, 'core')} as a table</summary>
      <div class="wide" tabIndex={0} role="group" aria-label="Cores as a table">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Core</th>
              <th scope="col">Role</th>
              <th scope="col" class="number">{how.title}</th>
              <th scope="col" class="number">L1</th>
              <th scope="col" class="number">Buffers</th>
              <th scope="col" class="number">Program L1</th>
              <th scope="col" class="number">Free</th>
              <th scope="col" class="number">Headroom</th>
              <th scope="col" class="number">Ring used</th>
              <th scope="col" class="number">Kernels</th>
            </tr>
          </thead>
          <tbody>
            {cores.map((core) => (
              <tr key={`${core.type} ${coreName(core)}`}>
                <td><a href={`/d/${id}/c/${coreName(core)}`}>{coreName(core)}</a></td>
                <td>{ROLE_WORDS[core.role] ?? core.role}</td>
                <td class="number">{valueText(core, how)}</td>
                <td class="number"><Bytes value={core.l1_bytes} /></td>
                <td class="number"><Bytes value={core.buffers} /></td>
                <td class="number"><Bytes value={core.program_l1} /></td>
                <td class="number"><Bytes value={core.free} /></td>
                <td class="number"><Bytes value={core.headroom} /></td>
                <td class="number"><Bytes value={core.ring_used} /></td>
                <td class="number"><Bytes value={core.kernel_footprint} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
