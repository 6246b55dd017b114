/** Tests that a streamer plays by rules what the timeline says, to the frame: each picture has the number of its item and its own drawn in blocks. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { findMoment } from '../../../src/core/programme/moments.ts';
import { compileRule, GRID_TICKS, readStanding } from '../../../src/core/programme/program-rules.ts';
import { takeTurns } from '../../../src/core/programme/rules.ts';
import { TICKS_PER_SECOND, ticksToMs } from '../../../src/core/programme/ticks.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import type { PlayedRule, ProgramItem } from '../../../src/core/resources/stream/playing.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { AUDIO_STEP_MS, live, openStudio, type Studio, VIDEO_STEP_MS } from '../../kit/make/onair.ts';
import { buildProgram, computeSteps, readPackets, storeRendition } from '../../kit/make/streamer.ts';
import { until } from '../../kit/wait.ts';

const FPS = 30;
const TICKS = TICKS_PER_SECOND / FPS;
const BLOCKS = 16;
/** Of these, the upper bits tell the item. */
const FRAME_BITS = 10;

/** Lengths in frames. */
const FRAMES: Record<string, number> = { a: 91, b: 180, c: 133, news: 45, jingle: 31, night: 95, late: 52 };
const NAMES = Object.keys(FRAMES);

let studio: Studio;
const clips: Record<string, ProgramItem> = {};

beforeAll(async () => {
  studio = await openStudio();
  for (const [number, id] of NAMES.entries()) clips[id] = await makeNumbered(id, number, FRAMES[id] ?? 0);
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

const makeNumbered = (id: string, number: number, frames: number): Promise<ProgramItem> =>
  storeRendition(join(studio.root, 'storage'), id, FPS, async (path) => {
    const blocks = `geq=lum='255*mod(floor((N+${number * 2 ** FRAME_BITS})/pow(2,floor(X/16))),2)':cb=128:cr=128`;
    await makeMedia(
      path,
      ...['-f', 'lavfi', '-i', `color=black:s=${BLOCKS * 16}x64:r=${FPS}:d=${frames / FPS + 1},${blocks}`],
      ...['-f', 'lavfi', '-i', `sine=f=${300 + 50 * number}:r=48000:d=${frames / FPS}`, '-frames:v', String(frames)],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-bf', '0'],
      ...['-g', String(2 * FPS), '-keyint_min', String(2 * FPS), '-sc_threshold', '0', '-b:v', '400k'],
      ...['-c:a', 'aac', '-ac', '2', '-b:a', '128k', '-f', 'flv', '-flvflags', 'no_duration_filesize'],
    );
  });

const pick = (...ids: string[]): ProgramItem[] => ids.map((id) => clips[id] as ProgramItem);
const rule = (given: Partial<PlayedRule> & Pick<PlayedRule, 'name' | 'when' | 'items'>): PlayedRule => ({
  ...{ start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' },
  ...given,
});

/** An item on air: its first frame and the one behind its last. */
type Segment = [id: string, first: number, end: number];

/** Reads which frames of which items a recording shows, one behind the other. */
async function decode(file: string): Promise<Segment[]> {
  const args = [
    '-v',
    'error',
    '-i',
    file,
    '-vf',
    `scale=${BLOCKS}:1:flags=area,format=gray`,
    '-fps_mode',
    'passthrough',
  ];
  const { stdout } = await promisify(execFile)('ffmpeg', [...args, '-f', 'rawvideo', '-'], {
    encoding: 'buffer',
    maxBuffer: 100_000_000,
  });
  const segments: Segment[] = [];
  for (let at = 0; at < stdout.length; at += BLOCKS) {
    let read = 0;
    for (let bit = 0; bit < BLOCKS; bit++) if ((stdout[at + bit] ?? 0) > 128) read += 2 ** bit;
    const id = NAMES[read >> FRAME_BITS] ?? `unknown ${read >> FRAME_BITS}`;
    const frame = read % 2 ** FRAME_BITS;
    const last = segments.at(-1);
    if (last?.[0] === id && last[2] === frame) last[2]++;
    else segments.push([id, frame, frame + 1]);
  }
  return segments;
}

/** The report of a pod of where its list stood. */
interface Fact {
  version: number;
  epoch: string;
  standing?: Parameters<typeof readStanding>[1];
}

/** A stream may be this much behind its clock, and no item is so short. */
const BEHIND_MS = 900;

/** Computes what the timeline of a program says from a fact until a moment. */
function compute({ video, seed }: Program, { epoch, standing }: Fact, untilMs: number): Segment[] {
  const ticks = (items: readonly ProgramItem[]) => items.map(({ id }) => (FRAMES[id] ?? 0) * TICKS);
  const rules = (video.rules ?? []).map((one) => compileRule(one, { durations: ticks(one.items) }, seed, findMoment));
  const loop = { mode: video.mode, seed, durations: ticks(video.items), gridTicks: GRID_TICKS.video, rules };
  const epochMs = Date.parse(epoch);
  const found: Segment[] = [];
  for (const turn of takeTurns(loop, readStanding(loop, standing, epochMs), epochMs)) {
    if (epochMs + ticksToMs(turn.startTicks) >= untilMs - BEHIND_MS) break;
    const list = turn.rule === null ? video.items : (video.rules?.[turn.rule]?.items ?? []);
    const first = turn.offsetTicks / TICKS;
    found.push([list[turn.item]?.id ?? '', first, first + (turn.endTicks - turn.startTicks) / TICKS]);
  }
  return found;
}

test('what viewers get is what the timeline says, to the frame, with a period, a count of items, a window and an edit', async () => {
  const { rtmp, onAir } = studio;
  const items = pick('a', 'b', 'c');
  const rules = [
    rule({ name: 'news', when: { everySeconds: 13 }, start: 'Cut', items: pick('news') }),
    rule({ name: 'jingle', when: { eachItems: 3 }, items: pick('jingle') }),
    // It begins within the next minute, and is open for a fifth of it.
    rule({
      name: 'night',
      when: { window: { cron: '* * * * *', timeZone: 'UTC', durationSeconds: 12 } },
      items: pick('night'),
    }),
  ];
  const program = buildProgram(items, { video: { mode: 'sequential', items, rules } });
  const edited: Program = {
    ...program,
    version: 2,
    video: { ...program.video, rules: [...rules, rule({ name: 'late', when: { eachItems: 1 }, items: pick('late') })] },
  };
  const stream = await onAir(program, { main: [rtmp.url, 'rules'] });
  await live(stream);
  const facts: Fact[] = [];
  const seen = new Set<string>();
  /** Waits until an item plays, and notes each fact on the way. */
  const hear = (id: string) =>
    until(
      `${id} plays`,
      async () => {
        const { clock, currentItem } = await stream.stats();
        const known = facts.at(-1);
        if (clock.video && (known?.version !== clock.video.version || known.epoch !== clock.video.epoch))
          facts.push(clock.video);
        if (currentItem) seen.add(currentItem.id);
        return seen.has(id);
      },
      90_000,
    );
  for (const id of ['news', 'jingle', 'night']) await hear(id);
  await stream.program(edited);
  await hear('late');
  seen.clear();
  await hear('late');
  await hear('b');
  await stream.stop();
  const recordings = await rtmp.recordings('rules');
  expect(recordings).toHaveLength(1);
  const [recording = ''] = recordings;
  const shown = (await decode(recording)).slice(1, -1);
  const expected = facts.flatMap((fact, nth) => {
    const next = facts[nth + 1];
    return compute(fact.version === 2 ? edited : program, fact, next ? Date.parse(next.epoch) : Date.now());
  });
  expect(shown).toEqual(expected.slice(1, 1 + shown.length));
  expect(new Set(shown.map(([id]) => id))).toEqual(new Set(NAMES));
  expect([facts[0], facts.at(-1)]).toMatchObject([{ version: 1 }, { version: 2 }]);
  const packets = await readPackets(recording);
  expect(computeSteps(packets, 'video')).toMatchObject({ notIncreasing: 0 });
  expect(computeSteps(packets, 'video').longestMs).toBeLessThanOrEqual(VIDEO_STEP_MS);
  expect(computeSteps(packets, 'audio').longestMs).toBeLessThanOrEqual(AUDIO_STEP_MS);
});
