/** Tests that what was on air, as it is computed from facts, is what streamers played: real ones, on a clock of their own. */
import { Readable } from 'node:stream';
import fc from 'fast-check';
import pino from 'pino';
import { expect, test } from 'vitest';
import type { TrackClock } from '../../../../src/core/operator/stream/pod-report.ts';
import { withClock } from '../../../../src/core/operator/stream/program.ts';
import { encodeHeader, encodeTag, TAG_AUDIO, TAG_VIDEO } from '../../../../src/core/pods/rendition/flv.ts';
import type { Storage } from '../../../../src/core/pods/storage/storage.ts';
import type { TimelineItem } from '../../../../src/core/pods/streamer/timeline/splicer.ts';
import { TrackPlayer } from '../../../../src/core/pods/streamer/tracks/track.ts';
import { type AirSpan, listAired, listStretches } from '../../../../src/core/programme/as-run.ts';
import { identifyTrack, type PlayedList } from '../../../../src/core/programme/identity.ts';
import { TICKS_PER_SECOND } from '../../../../src/core/programme/ticks.ts';
import type { Program } from '../../../../src/core/protocol/program.ts';
import { type Fact, recordFacts } from '../../../../src/core/resources/stream/facts.ts';
import type { PlayedRule, ProgramItem, Track } from '../../../../src/core/resources/stream/playing.ts';
import { buildIndex, buildProgram } from '../../../kit/make/streamer.ts';
import { until } from '../../../kit/wait.ts';

const FPS = 30;
const LENGTHS: Readonly<Record<string, number>> = { a: 3, b: 5, c: 8, d: 4, jingle: 3, news: 6 };
const item = (id: string): ProgramItem => ({ id, name: id, rendition: `r/${id}.flv` });

/** Media with a keyframe each 2 s, where a rule may cut. */
function buildMedia(seconds: number): Buffer {
  const picture = (frame: number) => Buffer.from([frame % (2 * FPS) === 0 ? 0x17 : 0x27, 1, 0, 0, 0, 9]);
  return Buffer.concat([
    encodeHeader({ audio: true, video: true }),
    encodeTag(TAG_VIDEO, 0, Buffer.from([0x17, 0, 0, 0, 0, 1])),
    encodeTag(TAG_AUDIO, 0, Buffer.from([0xaf, 0, 0x11, 0x90])),
    ...Array.from({ length: seconds * FPS }, (_, n) => encodeTag(TAG_VIDEO, Math.round((n * 1000) / FPS), picture(n))),
    encodeTag(TAG_AUDIO, 0, Buffer.from([0xaf, 1, 0, 0])),
  ]);
}
const files = new Map<string, Buffer>(
  Object.entries(LENGTHS).flatMap(([id, seconds]) => {
    const media = buildMedia(seconds);
    return [
      [`r/${id}.flv`, media],
      [`r/${id}.flv.json`, Buffer.from(JSON.stringify(buildIndex(media, FPS)))],
    ] as const;
  }),
);

/** A storage of which items go missing. */
function openStorage() {
  const missing = new Set<string>();
  const find = (key: string) => (missing.has(key.split('.')[0] ?? '') ? undefined : files.get(key));
  const storage: Partial<Storage> = {
    head: async (key) => {
      const found = find(key);
      return found && { sizeBytes: found.length, modifiedAt: new Date(0), version: '1' };
    },
    read: async (key, { start = 0, end } = {}) => Readable.from([(find(key) ?? Buffer.alloc(0)).subarray(start, end)]),
  };
  return { storage: storage as Storage, missing };
}

interface Played extends AirSpan {
  id: string;
}

/** A stream with its operator: what one of its pods reports is recorded, and the next one has it. */
class Channel {
  nowMs = Date.parse('2026-03-01T00:00:00.000Z');
  facts: readonly Fact[] | undefined;
  readonly lists = new Map<string, PlayedList>();
  readonly played: Played[] = [];
  readonly onAir: AirSpan[] = [];
  readonly #storage = openStorage();
  #program: Program;
  #track: TrackPlayer;
  #item: TimelineItem | undefined;
  readonly #ended = new AbortController();

  constructor(track: Track) {
    this.#program = buildProgram([], { epoch: new Date(this.nowMs).toISOString(), video: track });
    this.#track = this.#createTrack();
  }

  #createTrack(): TrackPlayer {
    return new TrackPlayer({
      storage: this.#storage.storage,
      kind: 'video',
      clock: { now: () => new Date(this.nowMs), monotonicMs: () => this.nowMs },
      log: pino({ level: 'silent' }),
      signal: this.#ended.signal,
      onData: () => undefined,
    });
  }

  #report(): void {
    const { clock } = this.#track.stats();
    if (!clock) return;
    this.facts = recordFacts(this.facts, { clock: { video: clock } });
    this.#program = withClock(this.#program, { video: clock as TrackClock });
  }

  async #load(): Promise<void> {
    const { video: track, seed } = this.#program;
    this.lists.set(identifyTrack(track, seed), { track, seed });
    await this.#track.load(this.#program, track);
  }

  /** Begins the next item. */
  async #begin(): Promise<void> {
    this.#end();
    this.#item = await until('the next item', () => {
      const next = this.#track.next();
      return typeof next === 'string' ? undefined : next;
    });
    this.played.push({ id: this.#item.name, startMs: this.nowMs, endMs: this.nowMs });
    this.#report();
  }

  #end(): void {
    const last = this.played.at(-1);
    if (this.#item && last) last.endMs = this.nowMs;
    this.#item = undefined;
  }

  #leftMs(): number {
    if (!this.#item) return 0;
    const { videoFrames, frameTicks } = this.#item;
    const began = this.played.at(-1)?.startMs ?? this.nowMs;
    return (videoFrames * frameTicks * 1000) / TICKS_PER_SECOND - (this.nowMs - began);
  }

  #pass(part: number): void {
    this.nowMs += Math.max(1, Math.round(this.#leftMs() * part));
  }

  async start(): Promise<void> {
    await this.#load();
    await this.#begin();
    this.onAir.push({ startMs: this.nowMs, endMs: this.nowMs });
  }

  async playOn(): Promise<void> {
    this.#pass(1);
    await this.#begin();
  }

  async skip(part: number): Promise<void> {
    this.#pass(part);
    const skipped = this.#track.skip();
    await this.#begin();
    await skipped;
  }

  async publish(track: Track, part: number): Promise<void> {
    this.#pass(part);
    this.#program = { ...this.#program, version: this.#program.version + 1, video: track };
    await this.#load();
  }

  /** An item that is open already still plays. */
  lose(id: string, isLost: boolean): void {
    if (isLost) this.#storage.missing.add(`r/${id}`);
    else this.#storage.missing.delete(`r/${id}`);
  }

  async kill(part: number, downMs: number): Promise<void> {
    this.#pass(part);
    this.stop();
    this.nowMs += downMs;
    this.#track = this.#createTrack();
    await this.start();
  }

  stop(): void {
    this.#report();
    this.#end();
    Object.assign(this.onAir.at(-1) ?? {}, { endMs: this.nowMs });
    this.#track.close();
  }

  close(): void {
    this.#ended.abort();
  }

  /** Computes what was on air, as the API does. */
  listAired() {
    const stretches = listStretches(this.facts ?? [], 'video', (hash) => this.lists.get(hash));
    const findLength = ({ id }: ProgramItem) => ({ seconds: LENGTHS[id] ?? 0, isExact: true });
    const span = { startMs: 0, endMs: this.nowMs };
    return [...listAired(stretches, span, { onAir: this.onAir, nowMs: this.nowMs, findLength })];
  }
}

const rule = (given: Partial<PlayedRule> & Pick<PlayedRule, 'name' | 'when' | 'items'>): PlayedRule => ({
  ...{ start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' },
  ...given,
});
const RULES = [
  rule({ name: 'jingle', when: { eachItems: 2 }, items: [item('jingle')] }),
  rule({ name: 'news', when: { everySeconds: 20 }, start: 'Cut', items: [item('news')] }),
];

const tracks: fc.Arbitrary<Track> = fc.record({
  mode: fc.constantFrom('sequential' as const, 'shuffle' as const),
  // One item is never lost: a pod that has nothing to play reports no list.
  items: fc
    .array(fc.constantFrom('a', 'b', 'c', 'd').map(item), { minLength: 1, maxLength: 4 })
    .map((items) => [...items, item('a')]),
});
const part = fc.double({ min: 0.1, max: 0.9, noNaN: true });
const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant({ what: 'play' as const }) },
    { weight: 2, arbitrary: fc.record({ what: fc.constant('skip' as const), part }) },
    { weight: 2, arbitrary: fc.record({ what: fc.constant('publish' as const), part, track: tracks }) },
    {
      weight: 2,
      arbitrary: fc.record({ what: fc.constant('kill' as const), part, downMs: fc.integer({ min: 0, max: 20_000 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        what: fc.constant('lose' as const),
        id: fc.constantFrom('b', 'jingle'),
        isLost: fc.boolean(),
      }),
    },
  ),
  { minLength: 8, maxLength: 25 },
);

async function run(channel: Channel, step: StepValue, hasRules: boolean): Promise<void> {
  switch (step.what) {
    case 'play':
      return channel.playOn();
    case 'skip':
      return channel.skip(step.part);
    case 'publish':
      return channel.publish(hasRules ? { ...step.track, rules: RULES } : step.track, step.part);
    case 'kill':
      return channel.kill(step.part, step.downMs);
    case 'lose':
      return channel.lose(step.id, step.isLost);
  }
}
type StepValue = typeof steps extends fc.Arbitrary<(infer T)[]> ? T : never;

/** Borders are rounded. */
const ROUNDING_MS = 50;

test.each([
  ['a list', false],
  ['a list with rules', true],
])(
  'what was on air of %s is what its streamers played, over skips, edits, lost items and kills',
  async (_what, hasRules) => {
    const property = fc.asyncProperty(tracks, steps, async (track, all) => {
      const channel = new Channel(hasRules ? { ...track, rules: RULES } : track);
      try {
        await channel.start();
        for (const step of all) await run(channel, step, hasRules);
        channel.stop();
      } finally {
        channel.close();
      }
      const aired = channel.listAired();
      for (const { id, startMs, endMs } of channel.played) {
        if (endMs - startMs < 3 * ROUNDING_MS) continue;
        for (const atMs of [startMs + ROUNDING_MS, endMs - ROUNDING_MS]) {
          const found = aired.find((one) => one.startMs <= atMs && atMs < one.endMs);
          expect([found?.item.id, atMs]).toEqual([id, atMs]);
        }
      }
      expect(aired.length).toBeLessThanOrEqual(channel.played.length);
      const sum = channel.played.reduce((total, { startMs, endMs }) => total + endMs - startMs, 0);
      const airedSum = aired.reduce((total, { airedMs }) => total + airedMs, 0);
      expect(Math.abs(sum - airedSum)).toBeLessThan(ROUNDING_MS * channel.played.length);
    });
    await fc.assert(property, { numRuns: 20 });
  },
  120_000,
);
