// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The cores of the device that was nearest to a clash, when it was, and the L1 of its tightest one.
import { CoreMap, HEATS, Scale } from '../parts/core_map.tsx';
import { L1Column } from '../parts/l1_column.tsx';
import { coreName } from '../format/cores.ts';
import { bytesText, clockText } from '../format/units.ts';
import type { ReportDocument } from './documents.ts';
import { now } from './live.ts';

const HEAT = HEATS[0]!;

export function L1({ of }: { of: ReportDocument }) {
  if (!of.l1) return <p class="quiet">The L1 of no core is known.</p>;
  const { core, cores, device, time_ns, holdings } = of.l1;
  now.value = time_ns; // ages are those of then
  const tight = core.headroom === null ? 'How close to a clash it was is not known.'
    : core.headroom < 0 ? `Programs and buffers want the same ${bytesText(-core.headroom)}.` : `${bytesText(core.headroom)} are left between programs and buffers.`;
  const when = !of.recorded ? 'now' : `at ${clockText(time_ns)}, when ${core.headroom === null ? 'L1 was fullest' : 'the least was left, of the moments that were looked at'}`;
  return (
    <>
      <p class="quiet">Device {device} {when}. The core with the least headroom is marked.</p>
      <div class="table-head"><span>{HEAT.title}</span> <Scale how={HEAT} most="all" /></div>
      <CoreMap cores={cores} how={HEAT} chosen={coreName(core)} onChoose={() => {}} label={`Cores of device ${device}`} />
      <h3>Core {coreName(core)} <span class="quiet">{tight}</span></h3>
      <L1Column core={core} holdings={holdings} />
    </>
  );
}
