/**
 * Lists the packets of an MP4 or MOV by its tables (ISO/IEC 14496-12 8.6 and 8.7), as ffmpeg's demuxer lists them: in the order of
 * decoding, moved and hidden by the edit list. Only tables of the ordinary kind are read. Pure: no I/O, no clock.
 */
import { type OpenBox, openBoxes } from './boxes.ts';
import type { Packet } from './packet.ts';

export interface MovieTrack {
  /** Number of the track, in the order of the file. */
  index: number;
  /** Packets; where all samples have one size, which a reader may join, the chunks that hold them. */
  packets: number;
  /** Position in the file where its last byte ends. */
  endByte: number;
  /** Undefined where the tables are not of the ordinary kind. */
  timeline: Timeline | undefined;
}

interface Table {
  bytes: Buffer;
  /** Number of its entries. */
  count: number;
}

const HEADER_BYTES = 4;
const MAX_COUNT = 2 ** 26;

/** Returns a table behind `skip` bytes and the number of its entries; undefined where it is cut off. */
function readTable(content: Buffer | undefined, entryBytes: number, skip = 0): Table | undefined {
  const start = HEADER_BYTES + skip + 4;
  if (!content || content.length < start) return undefined;
  const count = content.readUInt32BE(start - 4);
  if (count > MAX_COUNT || content.length < start + count * entryBytes) return undefined;
  return { bytes: content.subarray(start, start + count * entryBytes), count };
}

/** Steps through a table of runs, of a number of samples and the value of each. */
class Runs {
  readonly #table: Table;
  readonly #read: (bytes: Buffer, at: number) => number;
  #next = 0;
  #left = 0;
  #value = 0;

  constructor(table: Table, read: (bytes: Buffer, at: number) => number) {
    this.#table = table;
    this.#read = read;
  }

  /** Returns the value of the next sample. Callers must know that there is one. */
  next(): number {
    while (this.#left === 0) {
      this.#left = this.#table.bytes.readUInt32BE(this.#next);
      this.#value = this.#read(this.#table.bytes, this.#next + 4);
      this.#next += 8;
    }
    this.#left--;
    return this.#value;
  }
}

const unsigned = (bytes: Buffer, at: number): number => bytes.readUInt32BE(at);
/** The first version is unsigned by the standard, but negative in files of some writers, and ffmpeg reads it so. */
const signed = (bytes: Buffer, at: number): number => bytes.readInt32BE(at);

function* eachRun({ bytes }: Table): Generator<[samples: number, at: number]> {
  for (let at = 0; at < bytes.length; at += 8) yield [bytes.readUInt32BE(at), at + 4];
}

function* eachValue(table: Table): Generator<number> {
  for (const [, at] of eachRun(table)) yield at;
}

function countRuns(table: Table): number {
  let sum = 0;
  for (const [samples] of eachRun(table)) sum += samples;
  return sum;
}

/** The places of a track's samples. */
interface Layout {
  count: number;
  sizes: Table | undefined;
  sampleBytes: number;
  chunks: Table;
  chunkEntryBytes: 4 | 8;
  perChunk: Table;
}

function readLayout(boxes: ReadonlyMap<string, Buffer>): Layout | undefined {
  const stsz = boxes.get('stsz');
  const [stco, co64] = [boxes.get('stco'), boxes.get('co64')];
  const chunkEntryBytes = stco ? 4 : 8;
  const chunks = readTable(stco ?? co64, chunkEntryBytes);
  const perChunk = readTable(boxes.get('stsc'), 12);
  if (!stsz || stsz.length < 12 || !chunks || !perChunk || (stco && co64)) return undefined;
  const sampleBytes = stsz.readUInt32BE(4);
  const sizes = sampleBytes === 0 ? readTable(stsz, 4, 4) : undefined;
  if (sampleBytes === 0 && !sizes) return undefined;
  return { count: stsz.readUInt32BE(8), sizes, sampleBytes, chunks, chunkEntryBytes, perChunk };
}

/** Yields the position and the number of samples of each chunk. */
function* eachChunk({ chunks, chunkEntryBytes, perChunk }: Layout): Generator<[byte: number, samples: number]> {
  for (let chunk = 0, entry = 0; chunk < chunks.count; chunk++) {
    const isNext =
      (entry + 1) * 12 < perChunk.bytes.length && perChunk.bytes.readUInt32BE((entry + 1) * 12) <= chunk + 1;
    if (isNext) entry++;
    const at = chunk * chunkEntryBytes;
    const byte = chunkEntryBytes === 4 ? chunks.bytes.readUInt32BE(at) : Number(chunks.bytes.readBigUInt64BE(at));
    yield [byte, perChunk.bytes.readUInt32BE(entry * 12 + 4)];
  }
}

/** Returns the position of the last byte; undefined where the chunks do not hold all samples, each of them with content. */
function findEnd(layout: Layout): number | undefined {
  const { count, sizes, sampleBytes, perChunk } = layout;
  let left = count;
  let number = 0;
  let endByte = 0;
  if (perChunk.count === 0 || perChunk.bytes.readUInt32BE(0) !== 1) return left === 0 ? 0 : undefined;
  for (const [byte, samples] of eachChunk(layout)) {
    if (samples === 0 || samples > left) return undefined;
    left -= samples;
    let end = byte + (sizes ? 0 : samples * sampleBytes);
    for (const last = number + samples; sizes && number < last; number++) {
      const bytes = sizes.bytes.readUInt32BE(4 * number);
      if (bytes === 0) return undefined;
      end += bytes;
    }
    endByte = Math.max(endByte, end);
  }
  return left === 0 ? endByte : undefined;
}

/** Times in ticks of the track. */
interface Edit {
  /** Time before the first sample. */
  emptyTicks: number;
  mediaTicks: number;
  durationTicks: number;
}

/** Reads an edit list that shows one part of the track, at first or after a pause. Undefined for any other. */
function readEdit(elst: Buffer, movieScale: number, trackScale: number): Edit | undefined {
  const isLong = elst[0] === 1;
  const entryBytes = isLong ? 20 : 12;
  const table = readTable(elst, entryBytes);
  if (!table || movieScale === 0) return undefined;
  const { bytes } = table;
  const entries = Array.from({ length: Math.min(3, table.count) }, (_, n) => {
    const at = n * entryBytes;
    return {
      // As av_rescale() rounds.
      ticks: Math.round(
        ((isLong ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at)) * trackScale) / movieScale,
      ),
      mediaTicks: isLong ? Number(bytes.readBigInt64BE(at + 8)) : bytes.readInt32BE(at + 4),
      rate: bytes.readUInt32BE(at + entryBytes - 4),
    };
  });
  const pause = entries[0]?.mediaTicks === -1 ? entries.shift() : undefined;
  const [shown] = entries;
  if (entries.length !== 1 || !shown || shown.mediaTicks < 0 || shown.ticks === 0 || shown.rate !== 0x10000)
    return undefined;
  return { emptyTicks: pause?.ticks ?? 0, mediaTicks: shown.mediaTicks, durationTicks: shown.ticks };
}

interface Sample {
  dts: number;
  /** From decoding to showing it. */
  shift: number;
  sizeBytes: number;
  byte: number;
  isKey: boolean;
  /** Until the next sample is decoded; undefined for the last one. */
  step: number | undefined;
}

const MAX_TICKS = 2 ** 28;

interface TimelineParts {
  /** Ticks a second. */
  scale: number;
  layout: Layout;
  deltas: Table;
  shifts: Table | undefined;
  keys: Table | undefined;
  isSound: boolean;
  edit: Edit | undefined;
  /** Ticks that are added to presentation times, so that none precedes its decoding. */
  delay: number;
}

/** Says when each packet of a track is decoded and shown. */
export class Timeline {
  readonly index: number;
  readonly #parts: TimelineParts;
  /** Ticks that are added to the times of the media. */
  readonly #offset: number;
  /** Number of samples that are packets: those far behind the end of the edit list are none. */
  readonly packets: number;

  constructor(index: number, parts: TimelineParts) {
    this.index = index;
    this.#parts = parts;
    const { offset, packets } = this.#place();
    this.#offset = offset;
    this.packets = packets;
  }

  /**
   * Visits the samples in the order of decoding, until `visit` returns true. One object serves all of them: of hundreds of thousands, new
   * ones would cost more than what is done with them.
   */
  #some(visit: (sample: Sample) => boolean): void {
    const { layout, keys } = this.#parts;
    const { sizes, count } = layout;
    const deltas = new Runs(this.#parts.deltas, unsigned);
    const shifts = this.#parts.shifts && new Runs(this.#parts.shifts, signed);
    const sample: Sample = { dts: 0, shift: 0, sizeBytes: 0, byte: 0, isKey: false, step: undefined };
    let nextKey = 0;
    let number = 0;
    let dts = 0;
    for (const [start, samples] of eachChunk(layout)) {
      let byte = start;
      for (let n = 0; n < samples; n++) {
        const sizeBytes = sizes?.bytes.readUInt32BE(4 * number) ?? 0;
        number++;
        const isKey = !keys || (nextKey < keys.count && keys.bytes.readUInt32BE(4 * nextKey) === number);
        if (isKey) nextKey++;
        const ticks = deltas.next();
        sample.dts = dts;
        sample.shift = shifts?.next() ?? 0;
        sample.sizeBytes = sizeBytes;
        sample.byte = byte;
        sample.isKey = isKey;
        sample.step = number < count ? ticks : undefined;
        if (visit(sample)) return;
        dts += ticks;
        byte += sizeBytes;
      }
    }
  }

  /** Returns whether the edit list shows a sample. A frame of sound may be shown in part. */
  #isShown({ dts, shift, step }: Sample): boolean {
    const { edit, isSound } = this.#parts;
    if (!edit) return true;
    const { mediaTicks, durationTicks } = edit;
    const time = dts + shift;
    if (time >= mediaTicks + durationTicks) return false;
    return time >= mediaTicks || (isSound && time + (step ?? durationTicks) > mediaTicks);
  }

  /** Computes the offset of the times, and the number of packets, as ffmpeg's mov_fix_index() does. */
  #place(): { offset: number; packets: number } {
    const { edit, delay, isSound, layout } = this.#parts;
    if (!edit) return { offset: 0, packets: layout.count };
    const { emptyTicks, mediaTicks, durationTicks } = edit;
    const begin = emptyTicks - delay;
    let offset = undefined as number | undefined;
    let earliest = undefined as number | undefined;
    let packets = 0;
    let hasEnded = false;
    this.#some((sample) => {
      const time = sample.dts + sample.shift;
      packets++;
      if (this.#isShown(sample)) {
        // The part of a frame of sound that is not shown lies before the beginning.
        offset ??= begin - (time < mediaTicks ? mediaTicks - sample.shift : sample.dts);
        if (time >= mediaTicks) earliest = Math.min(earliest ?? Number.POSITIVE_INFINITY, offset + time + delay);
      }
      const isLast = time + (sample.step ?? durationTicks) >= mediaTicks + durationTicks;
      if (!isLast || !(isSound || sample.isKey)) return false;
      // Pictures go on to the second keyframe behind the end.
      if (isSound || hasEnded) return true;
      hasEnded = true;
      return false;
    });
    // Pictures begin at the end of the pause, whatever the shift of the first one is.
    const early = isSound ? 0 : Math.max(0, (earliest ?? emptyTicks) - emptyTicks);
    return { offset: (offset ?? begin) - early, packets };
  }

  /** Returns whether the first sample is the first packet: ffmpeg begins a second of sound before the edit, or with the keyframe there. */
  beginsAtFirst(): boolean {
    const { edit, isSound, scale } = this.#parts;
    if (!edit || edit.mediaTicks === 0) return true;
    if (isSound) return edit.mediaTicks <= scale;
    let keys = 0;
    this.#some(({ dts, shift, isKey }) => {
      if (isKey && dts <= edit.mediaTicks && dts + shift <= edit.mediaTicks) keys++;
      return dts > edit.mediaTicks || keys > 1;
    });
    return keys <= 1;
  }

  /**
   * Visits the packets in the order of decoding; one object serves all of them. Their durations are the times to the next one; NaN for
   * the last.
   */
  each(visit: (packet: Packet) => void): void {
    const { scale, delay } = this.#parts;
    // ffprobe writes so many digits.
    const seconds = (ticks: number) => Math.round((ticks * 1e6) / scale) / 1e6;
    const { index } = this;
    const packet: Packet = {
      ...{ index, pts: 0, dts: 0, duration: 0, sizeBytes: 0, byte: 0, isKey: false, isHidden: false },
    };
    let left = this.packets;
    if (left === 0) return;
    this.#some((sample) => {
      const dts = sample.dts + this.#offset;
      packet.pts = seconds(dts + delay + sample.shift);
      packet.dts = seconds(dts);
      packet.duration = sample.step === undefined ? Number.NaN : seconds(sample.step);
      packet.sizeBytes = sample.sizeBytes;
      packet.byte = sample.byte;
      packet.isKey = sample.isKey;
      packet.isHidden = !this.#isShown(sample);
      visit(packet);
      return --left === 0;
    });
  }
}

/** Reads the timeline of a track from its sample table; undefined where that is not of the ordinary kind. */
function readTimeline(
  index: number,
  stbl: readonly OpenBox[],
  { scale, layout, isSound, edit }: Pick<TimelineParts, 'scale' | 'layout' | 'isSound' | 'edit'>,
): Timeline | undefined {
  const boxes = toMap(stbl);
  const [deltas, shifts] = [readTable(boxes.get('stts'), 8), readTable(boxes.get('ctts'), 8)];
  const keys = readTable(boxes.get('stss'), 4);
  const { count, sizes } = layout;
  if (scale === 0 || count === 0 || !sizes || !deltas || readTable(boxes.get('stsd'), 0)?.count !== 1) return undefined;
  if ((boxes.has('ctts') && !shifts) || (boxes.has('stss') && !keys?.count) || hasSpecial(stbl)) return undefined;
  if (countRuns(deltas) !== count || (shifts && countRuns(shifts) !== count)) return undefined;
  for (const at of eachValue(deltas)) if (!isDelta(deltas.bytes.readUInt32BE(at))) return undefined;
  let delay = 0;
  for (const at of shifts ? eachValue(shifts) : []) {
    const ticks = shifts?.bytes.readInt32BE(at) ?? 0;
    if (Math.abs(ticks) > MAX_TICKS) return undefined;
    delay = Math.max(delay, -ticks);
  }
  const timeline = new Timeline(index, { scale, layout, deltas, shifts, keys, isSound, edit, delay });
  return timeline.beginsAtFirst() ? timeline : undefined;
}

const isDelta = (ticks: number): boolean => ticks > 0 && ticks <= MAX_TICKS;

/** Other random access points than those of `stss`, and anything that is stated twice, are for ffmpeg. */
function hasSpecial(boxes: readonly OpenBox[]): boolean {
  const seen = new Set<string>();
  return boxes.some(({ type, content }) => {
    if (type === 'stps') return true;
    if (type === 'sgpd' || type === 'sbgp') return ['rap ', 'sync'].includes(content.toString('latin1', 4, 8));
    const isTwice = seen.has(type);
    seen.add(type);
    return isTwice;
  });
}

const toMap = (boxes: readonly OpenBox[]): Map<string, Buffer> =>
  new Map(boxes.map(({ type, content }) => [type, content]));
const openMap = (content: Buffer | undefined): Map<string, Buffer> => toMap(openBoxes(content ?? Buffer.alloc(0)));

/** Reads the scale of a movie (mvhd) or a track (mdhd): ticks a second. */
function readScale(header: Buffer | undefined): number {
  const at = header?.[0] === 1 ? 20 : 12;
  return header && header.length >= at + 4 ? header.readUInt32BE(at) : 0;
}

/** True where the media is in this file alone (8.7.2). */
function isSelfContained(minf: ReadonlyMap<string, Buffer>): boolean {
  const references = readTable(openMap(minf.get('dinf')).get('dref'), 0);
  const dref = openMap(minf.get('dinf')).get('dref');
  if (references?.count !== 1 || !dref) return false;
  const [reference] = openBoxes(dref.subarray(8));
  return reference !== undefined && ((reference.content[3] ?? 0) & 1) === 1;
}

function readTrack(index: number, trak: Buffer, movieScale: number): MovieTrack | undefined {
  const boxes = openMap(trak);
  const mdia = openMap(boxes.get('mdia'));
  const minf = openMap(mdia.get('minf'));
  const stbl = openBoxes(minf.get('stbl') ?? Buffer.alloc(0));
  const layout = readLayout(toMap(stbl));
  const endByte = layout && findEnd(layout);
  if (!layout || endByte === undefined || !isSelfContained(minf)) return undefined;
  const scale = readScale(mdia.get('mdhd'));
  const elst = openMap(boxes.get('edts')).get('elst');
  const edit = elst && readEdit(elst, movieScale, scale);
  const isSound = mdia.get('hdlr')?.toString('latin1', 8, 12) === 'soun';
  const timeline = elst && !edit ? undefined : readTimeline(index, stbl, { scale, layout, isSound, edit });
  const packets = timeline?.packets ?? (layout.sizes ? layout.count : layout.chunks.count);
  return { index, packets, endByte, timeline };
}

/**
 * Reads the content of a `moov` box; undefined where not all packets are described in it. Throws PrepareError media_too_complex where a box
 * holds more boxes than any program writes.
 */
export function readMovie(moov: Buffer): MovieTrack[] | undefined {
  const boxes = openBoxes(moov);
  if (boxes.some(({ type }) => type === 'mvex' || type === 'cmov')) return undefined;
  const scale = readScale(boxes.find(({ type }) => type === 'mvhd')?.content);
  const tracks = boxes
    .filter(({ type }) => type === 'trak')
    .map(({ content }, index) => readTrack(index, content, scale));
  return tracks.every((track) => track !== undefined) ? tracks : undefined;
}
