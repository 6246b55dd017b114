/**
 * Runs a list with rules on air as its operator does, in processes that are killed, and drained for a successor that waits, and compares what
 * a receiver got with the timeline that the API gives out, frame by frame.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { TrackClock } from '../../../src/core/operator/stream/pod-report.ts';
import { withClock } from '../../../src/core/operator/stream/program.ts';
import type { ShownStats } from '../../../src/core/pods/streamer/control/stats.ts';
import { formatTimeline } from '../../../src/core/programme/formats.ts';
import { readOnAir } from '../../../src/core/programme/on-air.ts';
import { listPlanned } from '../../../src/core/programme/plan.ts';
import { recordStanding } from '../../../src/core/programme/program-rules.ts';
import { takeTurns } from '../../../src/core/programme/rules.ts';
import { TICKS_PER_SECOND, ticksToMs } from '../../../src/core/programme/ticks.ts';
import type { Program } from '../../../src/core/protocol/program.ts';
import { type Fact as ListFact, recordFacts } from '../../../src/core/resources/stream/facts.ts';
import type { LoopStream } from '../../../src/core/resources/stream/resource.ts';
import type { TrackStanding } from '../../../src/core/resources/stream/standing.ts';
import type { Upload } from '../../../src/core/resources/upload/resource.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import type { Running, Studio } from '../../kit/make/onair.ts';
import { MAIN } from '../../kit/system/app.ts';
import { until } from '../../kit/wait.ts';
import type { Recorded } from './as-run.ts';
import { decode, FPS, type Segment } from './numbered.ts';

/** Something that happens while a stream is on air, at its time in ms. */
export interface Happening {
  atMs: number;
  /** `kill`: the pod is gone at once, and another one begins. `drain`: another one waits ahead. A program is published. */
  what: 'kill' | 'drain' | Program;
}

/** The report of a pod of where its list stood, with the program that it had. */
interface Fact extends TrackClock {
  program: Program;
}

export interface Run extends Recorded {
  moves: readonly ListFact[];
  programs: Program[];
  facts: Fact[];
  endMs: number;
  /** One of each publish, with the moment at which it began. */
  recordings: { shown: Segment[]; startedMs: number; path: string }[];
}

interface Pod {
  child: ChildProcess;
  gone: Promise<unknown>;
  stats: () => Promise<ShownStats | undefined>;
  /** Names the pod that may publish, to this one. */
  name: (uid: string) => Promise<void>;
  uid: string;
}

async function startPod(studio: Studio, template: Running, nth: number, named: string): Promise<Pod> {
  const port = await reserveFreePort();
  const uid = `pod-${nth}`;
  const [uidFile, publisherFile] = [join(studio.root, `uid-${nth}`), join(studio.root, `publisher-${nth}`)];
  await writeFile(uidFile, uid);
  await writeFile(publisherFile, named);
  const env = {
    ...process.env,
    ...template.environment,
    LOOPSTREAM_PORT: String(port),
    LOOPSTREAM_POD_UID_FILE: uidFile,
    LOOPSTREAM_PUBLISHER_FILE: publisherFile,
    LOOPSTREAM_LINGER_SECONDS: '60',
  };
  const child = spawn(process.execPath, [MAIN, 'streamer'], { env, stdio: 'ignore' });
  const gone = once(child, 'exit');
  studio.cleanups.push(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const url = `http://127.0.0.1:${port}/stats`;
  return {
    ...{ child, gone, uid },
    stats: () =>
      fetch(url).then(
        (answer) => answer.json() as Promise<ShownStats>,
        () => undefined,
      ),
    name: (other) => writeFile(publisherFile, other),
  };
}

/** Keeps a stream on air for a while, and reads what its receiver got. Ids are those of the numbered clips, in their order. */
export async function runOnAir(
  studio: Studio,
  first: Program,
  { key, ids, forMs, happenings }: { key: string; ids: readonly string[]; forMs: number; happenings: Happening[] },
): Promise<Run> {
  const template = await studio.onAir(first, { main: [studio.rtmp.url, `${key}-template`] });
  await template.stop();
  await template.destination('main', studio.rtmp.url, key);
  const run: Run = { moves: [], programs: [first], facts: [], endMs: 0, recordings: [] };
  let program = first;
  let pods = 1;
  let pod = await startPod(studio, template, pods, 'pod-1');
  const listen = async () => {
    const { video } = (await pod.stats())?.clock ?? {};
    if (!video) return;
    run.moves = recordFacts(run.moves, { clock: { video } }) ?? [];
    const known = run.facts.at(-1);
    if (video.version === program.version) program = withClock(program, { video });
    if (known?.version !== video.version || known.epoch !== video.epoch)
      run.facts.push({ ...video, program: video.version === program.version ? program : (known?.program ?? first) });
  };
  const isLive = async () => (await pod.stats())?.live;
  await until('it is on air', isLive, 60_000);
  const begun = performance.now();
  const hear = (atMs: number) =>
    until(
      `${atMs} ms on air`,
      async () => {
        await listen();
        return performance.now() - begun >= atMs;
      },
      forMs + 60_000,
    );
  for (const { atMs, what } of happenings) {
    await hear(atMs);
    if (typeof what === 'object') {
      program = { ...what, epoch: program.epoch, ...(program.standings && { standings: program.standings }) };
      run.programs.push(program);
      await template.program(program);
      continue;
    }
    await template.program(program);
    const before = pod;
    if (what === 'kill') {
      before.child.kill('SIGKILL');
      await before.gone;
      pod = await startPod(studio, template, ++pods, `pod-${pods}`);
    } else {
      pod = await startPod(studio, template, ++pods, before.uid);
      await until('its successor is ready', async () => (await pod.stats())?.clock.video, 60_000);
      before.child.kill('SIGTERM');
      await before.name(pod.uid);
      await before.gone;
      await pod.name(pod.uid);
    }
    await until('it is on air again', isLive, 60_000);
  }
  await hear(forMs);
  run.endMs = Date.now();
  pod.child.kill('SIGTERM');
  await pod.name('nobody');
  await pod.gone;
  for (const path of await studio.rtmp.recordings(key))
    run.recordings.push({ path, shown: await decode(path, ids), startedMs: (await stat(path)).birthtimeMs });
  return run;
}

export interface Expected {
  segment: Segment;
  startMs: number;
  rule: string;
}

/** A pod sends ahead of its time, and plays what it has begun behind it. */
const SPARE_MS = 60_000;

/** Computes what the exported timeline of a stream says from each fact until the next one. */
export const planRun = ({ facts, endMs }: Pick<Run, 'facts' | 'endMs'>, frames: Record<string, number>): Expected[] =>
  facts.flatMap((fact, nth) => planFact(fact, facts[nth + 1], { endMs, frames }));

/** The places of a list and of its rules: no two turns of a run begin with the same. */
const findPlaces = (standing: TrackStanding, names: ReadonlySet<string>): string => {
  const { rules, ...own } = standing;
  const place = ({ round, turn, offsetTicks = 0, items }: Omit<typeof own, 'next' | 'played'>) =>
    [round, turn, offsetTicks, items].join();
  return JSON.stringify([place(own), ...rules.filter(({ name }) => names.has(name)).map(place)]);
};

function readList({ program, version, epoch, anchor, standing }: Fact, nowMs: number, frames: Record<string, number>) {
  const given = { ...program, version, epoch, standings: { ...(standing && { video: standing }) } };
  const status = { anchors: { video: { ...anchor, version, epoch, since: epoch } } };
  const findUpload = (id: string) => {
    const rendition = { key: `renditions/${id}.flv`, state: 'ready', durationSeconds: (frames[id] ?? 0) / FPS };
    return { status: { renditions: [rendition] } } as Pick<Upload, 'status'>;
  };
  const stream = { spec: {}, status } as unknown as LoopStream;
  const list = readOnAir(stream, given, 'video', { findUpload, now: new Date(nowMs) });
  const first = list?.anchor.standing;
  if (!list || !first) throw new Error('a list with rules stands nowhere');
  expect(list.exactUntilMs).toBeUndefined();
  return { list, first };
}

function planFact(
  fact: Fact,
  next: Fact | undefined,
  { endMs, frames }: { endMs: number; frames: Record<string, number> },
): Expected[] {
  const toMs = (next ? Date.parse(next.epoch) : endMs) + SPARE_MS;
  const { list, first } = readList(fact, toMs, frames);
  const epochMs = Date.parse(fact.epoch);
  const { items } = listPlanned(list, epochMs, toMs, 100_000);
  const csv = formatTimeline('csv', { id: 'channel', name: 'Channel', now: new Date(toMs) }, items);
  const names = new Set(next?.standing?.rules.map(({ name }) => name));
  const stop = next?.standing && findPlaces(next.standing, new Set(fact.standing?.rules.map(({ name }) => name)));
  const turns = takeTurns(list.programme, first, epochMs);
  const planned: Expected[] = [];
  for (const row of csv.trimEnd().split('\r\n').slice(1)) {
    const [startAt = '', , durationSeconds, id = '', , , , , rule = ''] = row.split(',');
    const { value: turn } = turns.next();
    if (!turn || findPlaces(recordStanding(list.programme, turn.before), names) === stop) break;
    const startMs = Date.parse(startAt);
    expect(startMs).toBe(epochMs + ticksToMs(turn.startTicks));
    const begin = (turn.offsetTicks * FPS) / TICKS_PER_SECOND;
    const segment: Segment = [id, begin, begin + Math.round(Number(durationSeconds) * FPS)];
    planned.push({ segment, startMs, rule: rule.replaceAll('"', '') });
  }
  return planned;
}

export interface Compared {
  /** Items that were shown from their first frame to their last, as the timeline has them. */
  whole: Expected[];
  /** How far the pictures were from the clock, in ms: behind it, and ahead of it. */
  behindMs: number;
  aheadMs: number;
}

/**
 * Expects that each recording shows the items of the timeline without a difference, from somewhere in one to somewhere in another one. Of
 * the places that are alike, it is the nearest one by the clock.
 */
export function compareRun({ recordings }: Run, expected: readonly Expected[]): Compared {
  const compared: Compared = { whole: [], behindMs: Number.NEGATIVE_INFINITY, aheadMs: Number.NEGATIVE_INFINITY };
  for (const { shown, startedMs } of recordings) {
    const [, begin = 0] = shown[0] ?? [];
    const distance = ({ startMs, segment: [, from] }: Expected) =>
      Math.abs(startMs + ((begin - from) * 1000) / FPS - startedMs);
    const places = expected
      .map((one, index) => ({ index, away: distance(one) }))
      .sort((a, b) => a.away - b.away)
      .map(({ index }) => index);
    const place = places.find((index) => isShown(shown, expected.slice(index)));
    const near = expected.slice(place ?? places[0]);
    if (place === undefined) expect(shown).toEqual(near.slice(0, shown.length).map(({ segment }) => segment));
    let framesBefore = 0;
    for (const [nth, segment] of shown.entries()) {
      const planned = near[nth];
      if (nth > 0 && planned) {
        const late = startedMs + (framesBefore * 1000) / FPS - planned.startMs;
        compared.behindMs = Math.max(compared.behindMs, late);
        compared.aheadMs = Math.max(compared.aheadMs, -late);
        if (nth < shown.length - 1) compared.whole.push(planned);
      }
      framesBefore += segment[2] - segment[1];
    }
  }
  return compared;
}

/** The first item may lack its beginning, and the last one its end. */
function isShown(shown: readonly Segment[], expected: readonly Expected[]): boolean {
  return shown.every(([id, first, end], nth) => {
    const [plannedId, begin, last] = expected[nth]?.segment ?? ['', 0, 0];
    const isBegun = nth === 0 ? first >= begin : first === begin;
    const isEnded = nth === shown.length - 1 ? end <= last : end === last;
    return id === plannedId && isBegun && isEnded;
  });
}
