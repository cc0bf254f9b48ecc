// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Why something did not fit, as `ttmem explain` says it: the verdict, the bank as it was, who is in the
// way, and what helps.
import type { ComponentChildren } from 'preact';
import { useDocument } from '../live/ask.ts';
import type { ClashSides, Cure, ExplainDocument, Holder } from '../live/explained.ts';
import { BankPicture } from '../parts/bank_picture.tsx';
import { Copy, CopyCommand } from '../parts/copy.tsx';
import { Bytes, Fact, Line, Name, Problem } from '../parts/text.tsx';
import { ageText, countText, hexText } from '../format/units.ts';
import { SPACE_WORDS, visible } from '../format/words.ts';

const HOLDER_WORDS: Record<string, string> = {
  buffer: 'Buffers', kernel_binaries: 'Kernel binaries', trace: 'Trace', program_cache: 'Program cache',
};

// It does not change any more: asked for once.
const EVERY_MS = 3_600_000;

export function Explanation({ whose, number }: { whose: string; number: number }) {
  const path = `/api/v1/explain?pid=${encodeURIComponent(whose)}&number=${number}`;
  const { data, problem, note } = useDocument<ExplainDocument>(path, EVERY_MS).value;
  if (!data) return <Problem text={problem} note={note} />;
  return <Findings of={data} copy={<Copy json={path} command={`ttmem explain ${number} --pid ${whose}`} png name="explanation" />} />;
}

export function Findings({ of: data, copy }: { of: ExplainDocument; copy?: ComponentChildren }) {
  return (
    <section aria-label="Why, and what helps" data-verdict={data.verdict}>
      <div class="table-head">
        <p class="headline">{visible(data.headline)}</p>
        {copy}
      </div>
      <Sums of={data} />
      {data.picture && data.picture.length > 0 ? (
        <BankPicture strips={data.picture} space={data.space} />
      ) : (
        <p class="quiet">There is no picture: not every block of the bank is known.</p>
      )}
      {data.clash && <Sides of={data.clash} />}
      <Cures of={data.cures} />
      <Holders of={data} />
      <Notes title="What else is true" of={data.remarks} />
      <Notes title="What is not known" of={data.unknown} />
    </section>
  );
}

function Sums({ of: { sum, space } }: { of: ExplainDocument }) {
  if (sum.bank === null && sum.asked === null) return null;
  return (
    <dl class="facts panel" aria-label="One bank">
      {sum.asked !== null && <Fact label="Asked for, in each bank"><Bytes value={sum.asked} figure="sum.asked" /></Fact>}
      <Fact label="Held"><Bytes value={sum.held} figure="sum.held" /></Fact>
      <Fact label="Free"><Bytes value={sum.holes} figure="sum.holes" /></Fact>
      <Fact label="Of these, in one piece"><Bytes value={sum.largest_hole} figure="sum.largest_hole" /></Fact>
      <Fact label={`A bank of ${SPACE_WORDS[space ?? ''] ?? 'it'}`}>
        <Bytes value={sum.bank} figure="sum.bank" /> {sum.banks !== null && <span class="quiet">there are {countText(sum.banks)}</span>}
      </Fact>
    </dl>
  );
}

function Sides({ of }: { of: ClashSides }) {
  return (
    <div class="panels">
      <dl class="facts panel" aria-label="The program">
        <Fact label="Program"><Name of={of.program} /></Fact>
        <Fact label="Its line"><Line of={of.program_line} /></Fact>
        <Fact label="Cores">{of.cores ?? 'not known'}</Fact>
        <Fact label="Its L1 ends at"><span class="mono" data-figure="clash.region_end" data-count={of.region_end ?? 'null'}>{hexText(of.region_end)}</span> <span class="quiet">{of.region_end}</span></Fact>
      </dl>
      <dl class="facts panel" aria-label="The buffer in its way">
        <Fact label="Buffer"><Name of={of.buffer.operation} /></Fact>
        <Fact label="Its line"><Line of={of.buffer.line} /></Fact>
        <Fact label="It begins at"><span class="mono" data-figure="clash.lowest_buffer" data-count={of.lowest_buffer ?? 'null'}>{hexText(of.lowest_buffer)}</span> <span class="quiet">{of.lowest_buffer}</span></Fact>
        <Fact label="Both want"><Bytes value={of.overlap} figure="clash.overlap" /></Fact>
      </dl>
    </div>
  );
}

function Cures({ of }: { of: Cure[] }) {
  return (
    <>
      <h2>What helps</h2>
      {of.length === 0 && <p class="quiet">Nothing that was tried on this picture helps.</p>}
      <ol class="cures">
        {of.map((cure, i) => (
          <li key={i} data-cure={cure.kind}>
            {visible(cure.text)}
            {cure.given && <span class="quiet"> Given that {visible(cure.given)}.</span>}
            {cure.call && <div><CopyCommand text={cure.call} /></div>}
          </li>
        ))}
      </ol>
      {of.length > 0 && <p class="quiet">The cheapest first. Each was tried out on the picture of that moment, and helped.</p>}
    </>
  );
}

function Holders({ of }: { of: ExplainDocument }) {
  if (of.holders.length === 0) return null;
  const age = (then: number | null): string => ageText(then, of.failure.time_ns ?? of.time_ns);
  const row = (holder: Holder) => (
    <tr key={`${holder.kind} ${holder.operation} ${holder.line} ${holder.lowest}`}>
      <td>{HOLDER_WORDS[holder.kind] ?? holder.kind}</td>
      <td class="number" data-holder={holder.bytes}><Bytes value={holder.bytes} /></td>
      <td class="number"><Bytes value={holder.taken} /></td>
      <td class="number">{countText(holder.count)}</td>
      <td><Name of={holder.operation} /></td>
      <td><Line of={holder.line} /></td>
      <td><Name of={holder.region} /></td>
      <td class="number mono">{hexText(holder.lowest)}</td>
      <td class="number">{age(holder.oldest_ns)}</td>
    </tr>
  );
  return (
    <>
      <h2>Who is in the way</h2>
      <div class="wide" tabIndex={0} role="group" aria-label="Who is in the way">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">What</th><th scope="col" class="number">Per bank</th><th scope="col" class="number">In all banks</th><th scope="col" class="number">Blocks</th>
              <th scope="col">Operation</th><th scope="col">Line</th><th scope="col">Region</th><th scope="col" class="number">Lowest</th><th scope="col" class="number">Age then</th>
            </tr>
          </thead>
          <tbody>{of.holders.map(row)}</tbody>
        </table>
      </div>
      {of.holders_left_out > 0 && <p class="quiet">And {countText(of.holders_left_out)} more lines that hold something.</p>}
    </>
  );
}

const Notes = ({ title, of }: { title: string; of: string[] }) =>
  of.length === 0 ? null : (
    <>
      <h2>{title}</h2>
      <ul>{of.map((each) => <li key={each}>{visible(each)}</li>)}</ul>
    </>
  );
