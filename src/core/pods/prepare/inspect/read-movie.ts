/**
 * Reads the packets of an MP4 or MOV from its tables, without its media: a fraction of the time that ffprobe takes for the whole file. The
 * tables are believed where ffprobe finds the same packets at the beginning, at the end, and where the steps change most.
 */
import { open } from 'node:fs/promises';
import { BOX_HEADER_BYTES, readBox } from './boxes.ts';
import { type MediaTools, readPackets, type Seen } from './ffprobe.ts';
import { type MovieTrack, readMovie, type Timeline } from './movie-tables.ts';
import type { Packet } from './packet.ts';
import { readAt } from './read-at.ts';
import type { Source } from './source.ts';

/** The tables of ten hours have 40 MB. */
const MAX_TABLES_BYTES = 2 ** 26;
const MAX_BOXES = 1000;
const HEAD = '%+#64';
/** Behind the end of any source: ffprobe reads from the last keyframe. */
const TAIL = '10000000%';
const PLACE_PACKETS = 16;
const PLACE_SECONDS = 0.1;
/** Clocks round to milliseconds at worst. */
const STEADY_SECONDS = 0.0015;
/** ffprobe writes six digits. */
const TOLERANCE_SECONDS = 2e-6;
/** Codecs whose samples are packets: ffmpeg joins or splits those of others. */
const CODECS = new Set(['h264', 'hevc', 'av1', 'mpeg4', 'prores', 'dnxhd', 'mjpeg', 'aac', 'alac', 'opus', 'flac']);

export interface Movie {
  tracks: readonly MovieTrack[];
  /** Visits the packets of the chosen tracks, one track after the other; one object serves all of a track. */
  each: (visit: (packet: Packet) => void) => void;
}

interface Reading {
  tools: MediaTools;
  signal: AbortSignal;
  deadline: AbortSignal;
  /** Further options of ffprobe. */
  options: string[];
}

/**
 * Resolves with undefined where ffprobe must read the whole file: another container, tables that are not of the ordinary kind or describe
 * more than the file holds, or packets that ffprobe finds otherwise. Rejects with the signal's reason or an error of the file.
 */
export async function openMovie(path: string, source: Source, reading: Reading): Promise<Movie | undefined> {
  const { format, video, audio, sizeBytes } = source;
  const chosen = [video, audio].filter((track) => track !== undefined);
  if (!/\bmov\b/.test(format) || !chosen.every(({ codec }) => CODECS.has(codec))) return undefined;
  const moov = await readTables(path, sizeBytes);
  const tracks = moov && readMovie(moov);
  if (!tracks || tracks.some(({ endByte }) => endByte > sizeBytes)) return undefined;
  const timelines = chosen.map(({ index }) => tracks[index]?.timeline);
  if (!timelines.every((timeline) => timeline !== undefined)) return undefined;
  const proof = await readProof({ path, patches: source.patches }, timelines, reading);
  if (!proof) return undefined;
  const proven = timelines.map(
    (timeline) => [timeline, proveTrack(timeline, proof.get(timeline.index) ?? new Map())] as const,
  );
  if (!proven.every((one): one is readonly [Timeline, Durations] => one[1] !== undefined)) return undefined;
  return {
    tracks,
    each(visit) {
      for (const [timeline, durations] of proven) visitWithDurations(timeline, durations, visit);
    },
  };
}

/** Returns the content of the only `moov` box of a file without fragments. */
async function readTables(path: string, sizeBytes: number): Promise<Buffer | undefined> {
  const file = await open(path);
  try {
    let moov: Buffer | undefined;
    for (let at = 0, boxes = 0; at < sizeBytes; boxes++) {
      const header = await readAt(file, at, Math.min(BOX_HEADER_BYTES, sizeBytes - at));
      const box = readBox(header);
      if (!box || boxes === MAX_BOXES || box.type === 'moof') return undefined;
      const { type, headerBytes, sizeBytes: boxBytes = sizeBytes - at } = box;
      if (type === 'moov') {
        if (moov || boxBytes > MAX_TABLES_BYTES || at + boxBytes > sizeBytes) return undefined;
        moov = await readAt(file, at + headerBytes, boxBytes - headerBytes);
      }
      at += boxBytes;
    }
    return moov;
  } finally {
    await file.close();
  }
}

/** Packets of a track that ffprobe finds, by their positions. */
type Found = Map<number, Packet>;
/** Tracks by their numbers. */
type Proof = ReadonlyMap<number, Found>;

/** Resolves with undefined where ffprobe cannot read the places. */
async function readProof(
  file: Seen,
  timelines: readonly Timeline[],
  { tools, options, signal, deadline }: Reading,
): Promise<Proof | undefined> {
  const places = timelines.flatMap(choosePlaces).sort((a, b) => a.seconds - b.seconds);
  const intervals = [HEAD, ...places.map(({ seconds, length }) => `${seconds}%${length}`), TAIL];
  const found = new Map<number, Found>(timelines.map(({ index }) => [index, new Map()]));
  const onPacket = (packet: Packet) => found.get(packet.index)?.set(packet.byte, packet);
  const args = ['-read_intervals', intervals.join(','), ...options];
  try {
    await readPackets(file, tools, args, { signal, deadline }, onPacket);
    return found;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** A part of a track: where it begins, and how far ffprobe reads. */
interface Place {
  seconds: number;
  length: string;
}

/** Chooses the middle of a track, and the places of its shortest and its longest step where they differ. */
function choosePlaces(timeline: Timeline): Place[] {
  let shortest = { seconds: Number.POSITIVE_INFINITY, at: 0 };
  let longest = { seconds: 0, at: 0 };
  let middle = 0;
  let number = 0;
  timeline.each(({ dts, duration }) => {
    if (duration < shortest.seconds) shortest = { seconds: duration, at: dts };
    if (duration > longest.seconds) longest = { seconds: duration, at: dts };
    if (++number === timeline.packets >> 1) middle = dts;
  });
  const extremes = longest.seconds - shortest.seconds > STEADY_SECONDS ? [shortest, longest] : [];
  return [
    { seconds: Math.max(0, middle), length: `+#${PLACE_PACKETS}` },
    ...extremes.map(({ at, seconds }) => ({ seconds: Math.max(0, at), length: `${at + seconds + PLACE_SECONDS}` })),
  ];
}

interface Durations {
  /** Of all packets but the last; undefined where each lasts to the next one. */
  constant: number | undefined;
  last: number;
}

/** Compares a track with what ffprobe has found of it. Returns undefined where they differ, or the last packet was not found. */
function proveTrack(timeline: Timeline, found: Found): Durations | undefined {
  const [first] = found.values();
  let matches = 0;
  let differs = false;
  let areSteps = true;
  let areConstant = true;
  let last = undefined as Packet | undefined;
  let number = 0;
  timeline.each((packet) => {
    const same = found.get(packet.byte);
    const isLast = ++number === timeline.packets;
    if (!same) return;
    matches++;
    differs ||= !isSame(packet, same);
    if (isLast) last = same;
    if (isLast) return;
    areSteps &&= isClose(packet.duration, same.duration);
    areConstant &&= isClose(first?.duration ?? Number.NaN, same.duration);
  });
  if (differs || !first || !last || matches !== found.size || !(areSteps || areConstant)) return undefined;
  return { constant: areSteps ? undefined : first.duration, last: last.duration };
}

const isClose = (a: number, b: number): boolean =>
  Math.abs(a - b) <= TOLERANCE_SECONDS || (Number.isNaN(a) && Number.isNaN(b));

const isSame = (a: Packet, b: Packet): boolean =>
  isClose(a.pts, b.pts) &&
  isClose(a.dts, b.dts) &&
  a.sizeBytes === b.sizeBytes &&
  a.isKey === b.isKey &&
  a.isHidden === b.isHidden;

function visitWithDurations(timeline: Timeline, { constant, last }: Durations, visit: (packet: Packet) => void): void {
  let number = 0;
  timeline.each((packet) => {
    const isLast = ++number === timeline.packets;
    packet.duration = isLast ? last : (constant ?? packet.duration);
    visit(packet);
  });
}
