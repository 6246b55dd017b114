/**
 * Joins the clocks of a source into one line of time. A clock restarts where recordings were joined byte by byte, and
 * jumps where a recorder lost its input; a player goes on at once in both cases. Pure: no I/O, no clock.
 */
import { PrepareError } from '../failure/failure.ts';
import { beyondPadding } from './padding.ts';

/** Containers of live signals: a jump of time is a break there, not a pause. */
const LIVE = /\b(mpegts|mpeg|ogg|flv|live_flv|mp3|aac|ac3|eac3|dts)\b/;
/** The index and edit lists of an MP4 define its timeline, so a hole in it is intended. */
const EXPLICIT = /\bmov\b/;
const AHEAD_SECONDS = { live: 0.2, other: 10 };
/** A single track may pause for this long; two that pause at once for less have both lost their input. */
const PAUSE_SECONDS = 1;
/** A shorter pause is not noticed. */
const NOTICED_SECONDS = 0.5;
/** A slide show has long steps from its beginning to its end; a break is longer than the steps before it. */
const AHEAD_FACTOR = 5;
const MIN_PACKETS = 8;
/** ffmpeg's own tolerance: packets that were written in a slightly wrong order. */
const BACK_SECONDS = 0.1;
/** Presentation times go back wherever pictures are reordered. */
const REORDERED_SECONDS = 2;
/** Each break is a term of a filter's expression. A clock that restarts more often is refused. */
const MAX_PIECES = 1000;
/** Breaks of two tracks within this distance are one break. */
const SAME_BREAK_SECONDS = 5;
const SAME_BREAK_PACKETS = 500;

/** Times in seconds, as stored. */
export interface ClockPiece {
  /** Position of its first packet in the file. */
  fromByte: number | undefined;
  startSeconds: number;
  endSeconds: number;
  packets: number;
  largestStepSeconds: number;
  /** Seconds without packets inside the piece. */
  pauseSeconds: number;
  /** The cause of the piece's beginning. */
  begins: 'first' | 'back' | 'ahead';
  /** Distance that the clock moved beyond the expected time. */
  jumpSeconds: number;
  /** Packets of all tracks before its first one, and before the last one so far. */
  firstPacket: number;
  lastPacket: number;
}

export interface Shift {
  /** Frames of packets at or behind this position are shown this many seconds after their own time. */
  fromByte: number;
  seconds: number;
}

export interface PacketTimes {
  /** In seconds; NaN where the container stores no decoding times. */
  dts: number;
  /** The decoding time where `isStamped` is false: the container stores no other one. */
  pts: number;
  isStamped: boolean;
  /** As the container says. */
  duration: number;
  byte: number | undefined;
  /** False for a packet that is only decoded. */
  shown: boolean;
  /** Packets of all tracks before this one. */
  ordinal: number;
}

/** Cuts one track into pieces with a regular clock. */
export class PacketClock {
  readonly kind: 'pictures' | 'sound';
  readonly #explicit: boolean;
  readonly #aheadSeconds: number;
  readonly pieces: ClockPiece[] = [];
  #last = Number.NaN;
  #next = Number.NaN;
  /** True when the last time was one of presentation. */
  #lastReordered = false;
  /** Seconds of all pieces but the last. */
  #before = 0;
  #ending = new Ending();
  #longestSeconds = 0;

  constructor(format: string, kind: 'pictures' | 'sound') {
    this.kind = kind;
    this.#explicit = EXPLICIT.test(format);
    this.#aheadSeconds = LIVE.test(format) ? AHEAD_SECONDS.live : AHEAD_SECONDS.other;
  }

  /** Throws PrepareError media_too_complex. */
  add(packet: PacketTimes): void {
    const { dts, pts, byte, shown, ordinal } = packet;
    const at = Number.isNaN(dts) ? pts : dts;
    // Matroska stores no decoding times; ffmpeg finds them from the third packet or so on, behind the first presentation times.
    const reordered = Number.isNaN(dts) || this.#lastReordered;
    this.#lastReordered = Number.isNaN(dts);
    const piece = this.#pieceAt(at, reordered ? REORDERED_SECONDS : BACK_SECONDS, ordinal);
    if (piece.packets > 0) {
      piece.largestStepSeconds = Math.max(piece.largestStepSeconds, at - this.#last);
      this.#longestSeconds = Math.max(this.#longestSeconds, Math.min(at, this.#next) - this.#last);
      if (at - this.#next > NOTICED_SECONDS) piece.pauseSeconds += at - this.#next;
    }
    const duration = this.#measureDuration(piece, packet.duration);
    piece.packets++;
    piece.fromByte ??= byte;
    piece.lastPacket = ordinal;
    if (shown) {
      piece.startSeconds = Math.min(piece.startSeconds, pts);
      piece.endSeconds = this.#ending.add(packet, duration);
    }
    this.#last = at;
    this.#next = at + duration;
  }

  /** A frame of sound has the samples that the codec gives it, so no packet lasts longer than all those before it. */
  #measureDuration({ packets }: ClockPiece, claimed: number): number {
    const isProven = this.kind === 'sound' && packets >= MIN_PACKETS && this.#longestSeconds > 0;
    return isProven ? Math.min(claimed, this.#longestSeconds) : claimed;
  }

  /** Seconds of all pieces, without the time between them. */
  get seconds(): number {
    return this.#before + measureLength(this.pieces.at(-1));
  }

  #pieceAt(at: number, backSeconds: number, ordinal: number): ClockPiece {
    const current = this.pieces.at(-1);
    const begins = current ? this.#breakAt(at, backSeconds, current) : 'first';
    if (current && !begins) return current;
    this.#before += measureLength(current);
    this.#ending = new Ending();
    const piece: ClockPiece = {
      fromByte: undefined,
      startSeconds: Number.POSITIVE_INFINITY,
      endSeconds: Number.NEGATIVE_INFINITY,
      packets: 0,
      largestStepSeconds: 0,
      pauseSeconds: 0,
      begins: begins || 'first',
      jumpSeconds: current ? at - this.#next : 0,
      firstPacket: ordinal,
      lastPacket: ordinal,
    };
    this.pieces.push(piece);
    return piece;
  }

  #breakAt(at: number, backSeconds: number, current: ClockPiece): 'back' | 'ahead' | false {
    if (this.#explicit) return false;
    const step = at - this.#last;
    if (step < -backSeconds) {
      if (this.pieces.length < MAX_PIECES) return 'back';
      const detail = `Its timestamps restart more than ${MAX_PIECES} times. Export it again with continuous timestamps.`;
      throw new PrepareError('media_too_complex', detail);
    }
    const ahead = Math.max(this.#aheadSeconds, AHEAD_FACTOR * current.largestStepSeconds);
    return step > ahead && current.packets >= MIN_PACKETS && this.pieces.length < MAX_PIECES && 'ahead';
  }
}

/** Finds the end of a piece: a frame is shown until the next one is, and the last one for its own duration. */
class Ending {
  /** Times of the frame that is shown last. */
  #lastSeconds = Number.NEGATIVE_INFINITY;
  #endSeconds = Number.NEGATIVE_INFINITY;
  /** From decoding the first frame to showing it. */
  #delaySeconds: number | undefined;
  #misses = false;

  /** Adds a frame that is shown, and returns the end so far. */
  add({ dts, pts, isStamped }: Pick<PacketTimes, 'dts' | 'pts' | 'isStamped'>, duration: number): number {
    if (!isStamped) this.#misses = true;
    else if (!Number.isNaN(dts)) this.#delaySeconds ??= pts - dts;
    if (pts > this.#lastSeconds) this.#endSeconds = pts + duration;
    else if (pts === this.#lastSeconds) this.#endSeconds = Math.max(this.#endSeconds, pts + duration);
    this.#lastSeconds = Math.max(this.#lastSeconds, pts);
    if (!this.#misses || Number.isNaN(dts)) return this.#endSeconds;
    // A frame without a time of its own may be the last one that is shown. All are, this long after they are decoded.
    return Math.max(this.#endSeconds, dts + duration + (this.#delaySeconds ?? 0));
  }
}

const measureLength = (piece: ClockPiece | undefined): number =>
  piece ? Math.max(0, piece.endSeconds - piece.startSeconds) : 0;

/** A track on the line of time that it shares with the other. */
export interface JoinedTrack {
  startSeconds: number;
  endSeconds: number;
  shifts: Shift[];
  /** The longest pause that is left in the track. */
  largestStepSeconds: number;
  pauseSeconds: number;
  /** Number of restarts and jumps. */
  breaks: number;
}

/** Puts the pieces of the tracks one behind the other; pieces of one recording lie side by side. */
export function joinTracks(format: string, clocks: readonly (PacketClock | undefined)[]): (JoinedTrack | undefined)[] {
  const lines = clocks.map((clock) => clock && new Line(clock));
  const [one, other] = lines.filter((line) => line !== undefined);
  const live = LIVE.test(format);
  for (;;) {
    const first = [one, other].filter((line) => line?.next).sort(byOrder)[0];
    if (!first?.next) break;
    const second = first === one ? other : one;
    const partner = second?.next;
    if (second && partner && isSameBreak(first, second)) joinBoth(first, second);
    else joinAlone(first, second, live);
  }
  return lines.map((line) => line?.result());
}

const byOrder = (a: Line | undefined, b: Line | undefined): number =>
  (a?.next?.firstPacket ?? 0) - (b?.next?.firstPacket ?? 0);

/** The placed pieces of one track, and the others. */
class Line {
  readonly kind: PacketClock['kind'];
  readonly #waiting: ClockPiece[];
  /** The last placed piece; pauses extend it. */
  #piece: ClockPiece;
  #shift = 0;
  readonly #track: JoinedTrack;

  constructor({ kind, pieces: [first, ...waiting] }: PacketClock) {
    this.kind = kind;
    this.#piece = first ?? { ...NOTHING };
    this.#waiting = waiting;
    const { startSeconds, endSeconds, largestStepSeconds, pauseSeconds } = this.#piece;
    this.#track = { startSeconds, endSeconds, shifts: [], largestStepSeconds, pauseSeconds, breaks: 0 };
  }

  get next(): ClockPiece | undefined {
    return this.#waiting[0];
  }
  get piece(): ClockPiece {
    return this.#piece;
  }
  /** End of the track so far, on the common line. */
  get endSeconds(): number {
    return this.#track.endSeconds;
  }

  /** Moves the next piece by this many seconds. */
  place(seconds: number, isBreak: boolean): void {
    const piece = this.#waiting.shift();
    if (!piece) return;
    const track = this.#track;
    if (isBreak) track.breaks++;
    else {
      track.largestStepSeconds = Math.max(track.largestStepSeconds, piece.jumpSeconds);
      track.pauseSeconds += Math.max(0, piece.jumpSeconds);
    }
    track.pauseSeconds += piece.pauseSeconds;
    if (seconds !== this.#shift && piece.fromByte !== undefined) {
      track.shifts.push({ fromByte: piece.fromByte, seconds });
      this.#shift = seconds;
    }
    track.startSeconds = Math.min(track.startSeconds, piece.startSeconds + this.#shift);
    track.endSeconds = Math.max(track.endSeconds, piece.endSeconds + this.#shift);
    track.largestStepSeconds = Math.max(track.largestStepSeconds, piece.largestStepSeconds);
    this.#piece = piece;
  }

  /** Leaves the next piece at its time: a pause precedes it. */
  pause(): void {
    this.place(this.#shift, false);
  }

  result(): JoinedTrack {
    const track = this.#track;
    return track.startSeconds === Number.POSITIVE_INFINITY ? { ...track, startSeconds: 0, endSeconds: 0 } : track;
  }
}

const NOTHING: ClockPiece = {
  fromByte: undefined,
  startSeconds: Number.POSITIVE_INFINITY,
  endSeconds: Number.NEGATIVE_INFINITY,
  packets: 0,
  largestStepSeconds: 0,
  pauseSeconds: 0,
  begins: 'first',
  jumpSeconds: 0,
  firstPacket: 0,
  lastPacket: 0,
};

/** True when both clocks break at about the same place of the file, and go on from about the same time. */
function isSameBreak(one: Line, other: Line): boolean {
  const [a, b] = [one.next, other.next];
  if (!a || !b || Math.abs(a.startSeconds - b.startSeconds) > SAME_BREAK_SECONDS) return false;
  const endTogether = Math.abs(one.piece.endSeconds - other.piece.endSeconds) < SAME_BREAK_SECONDS;
  return endTogether || Math.abs(a.firstPacket - b.firstPacket) < SAME_BREAK_PACKETS;
}

/** Padding between the parts is left out, so that pictures follow each other without a hole. */
function joinBoth(one: Line, other: Line): void {
  const [pictures, sound] = one.kind === 'pictures' ? [one, other] : [other, one];
  const [shown, heard] = [pictures.next?.startSeconds ?? 0, sound.next?.startSeconds ?? 0];
  const end = pictures.endSeconds + beyondPadding(sound.endSeconds - pictures.endSeconds);
  const start = shown - beyondPadding(shown - heard);
  one.place(end - start, true);
  other.place(end - start, true);
}

/** Places a track whose clock breaks while the other one goes on or has ended. */
function joinAlone(line: Line, other: Line | undefined, live: boolean): void {
  const { next } = line;
  if (!next) return;
  const ended = !other || (!other.next && other.piece.lastPacket < next.firstPacket);
  const isPause = next.begins === 'ahead' && !(live && ended && next.jumpSeconds > PAUSE_SECONDS);
  if (isPause) {
    line.pause();
    return;
  }
  const end = ended && other ? Math.max(line.endSeconds, other.endSeconds) : line.endSeconds;
  line.place(end - next.startSeconds, true);
}
