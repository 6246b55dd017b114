/** Adds up the packets of one stream: how long it is shown, and whether it is regular. Pure: no I/O, no clock. */
import { BrokenPromiseError } from '../../rendition/frame-times.ts';
import type { PictureOrder } from '../../rendition/picture-order.ts';
import { type JoinedTrack, PacketClock } from './join-clocks.ts';
import type { Packet } from './packet.ts';
import { SETTLED_PACKETS, type StreamScan } from './source.ts';
import { SteadyRate } from './steady-rate.ts';

interface TallyOptions {
  /** A regular stream has this many packets a second. */
  rate: number;
  /** Pictures are regular in this order; the packets of sound all are keyframes. */
  order?: PictureOrder;
  /** Duration of a packet that does not state one. */
  frameSeconds: number;
}

export class Tally {
  readonly clock: PacketClock;
  readonly #options: TallyOptions;
  #packets = 0;
  #hidden = 0;
  #bytes = 0;
  #regular = true;
  /** Of pictures, whose clock may be a little off. */
  readonly #steady: SteadyRate | undefined;
  #last: number | undefined;
  #largestStepSeconds = 0;
  /** The piece of its clock: the packets before it, and the time of its first one. An edit list may hide that and others. */
  #piece = { firstPacket: 0, startSeconds: Number.POSITIVE_INFINITY };
  /** Packets before the first keyframe. */
  #beforeKey = 0;
  #keySeconds: number | undefined;
  #lastKeySeconds: number | undefined;
  #largestGopSeconds = 0;
  #settledSeconds: number | undefined;
  #startsBroken = false;

  constructor(format: string, options: TallyOptions) {
    this.clock = new PacketClock(format, options.order ? 'pictures' : 'sound');
    this.#options = options;
    this.#steady = options.order && new SteadyRate(options.rate);
  }

  /** Takes the next packet. Throws PrepareError media_too_complex. */
  add(packet: Packet, ordinal: number): void {
    const { dts, isKey } = packet;
    const duration = packet.duration || this.#options.frameSeconds;
    const isStamped = !Number.isNaN(packet.pts);
    // A stream without timestamps of its own (raw, some AVI) has decoding timestamps.
    const pts = isStamped ? packet.pts : dts;
    this.#bytes += packet.sizeBytes || 0;
    const number = this.#packets++;
    if (Number.isNaN(pts)) {
      this.#regular = false;
      return;
    }
    // Packets that are only decoded do not count for the source's length.
    const shown = !packet.isHidden;
    if (!shown) this.#hidden++;
    const byte = Number.isNaN(packet.byte) ? undefined : packet.byte;
    const pieces = this.clock.pieces.length;
    this.clock.add({ dts, pts, isStamped, duration, byte, shown, ordinal });
    if (pieces !== this.clock.pieces.length) this.#piece = { firstPacket: number, startSeconds: pts };
    else if (this.#last !== undefined) this.#largestStepSeconds = Math.max(this.#largestStepSeconds, pts - this.#last);
    this.#piece.startSeconds = Math.min(this.#piece.startSeconds, pts);
    this.#last = pts;
    if (number === SETTLED_PACKETS) this.#settledSeconds = pts;
    this.#largestGopSeconds = Math.max(this.#largestGopSeconds, pts - (this.#lastKeySeconds ?? pts));
    if (isKey) this.#lastKeySeconds = pts;
    if (this.clock.pieces.length === 1) this.#watchStart(pts, isKey, shown);
    this.#steady?.add(pts, isKey);
    this.#regular &&= this.#isRegular(number - this.#piece.firstPacket, pts - this.#piece.startSeconds, isKey);
  }

  /** Pictures that refer to others before the first keyframe may not come out of the decoder. */
  #watchStart(pts: number, isKey: boolean, shown: boolean): void {
    if (isKey) this.#keySeconds ??= pts;
    if (this.#keySeconds === undefined) this.#beforeKey++;
    this.#startsBroken ||= shown && (this.#keySeconds === undefined || pts < this.#keySeconds);
  }

  #isRegular(number: number, seconds: number, isKey: boolean): boolean {
    const { rate, order } = this.#options;
    const slot = order ? Math.round(seconds * rate) : number;
    // Containers store times in milliseconds at worst.
    if (Math.abs(seconds - slot / rate) >= 0.0015) return false;
    return order ? isOrdered(() => order.add(this.#piece.firstPacket + slot, isKey)) : isKey;
  }

  /** The counts so far, for checkTrack(). */
  get packets(): number {
    return this.#packets;
  }

  get seconds(): number {
    return this.clock.seconds;
  }

  get gapSeconds(): number {
    return this.#largestStepSeconds;
  }

  result({ startSeconds, endSeconds, shifts, breaks, largestStepSeconds, pauseSeconds }: JoinedTrack): StreamScan {
    const { order, frameSeconds } = this.#options;
    const regular = this.#regular && (!order || isOrdered(() => order.end()));
    const steady = regular || breaks > 0 ? undefined : this.#steady?.result();
    return {
      packets: this.#packets,
      hidden: this.#hidden,
      startSeconds,
      // Without timestamps the decoder shows one packet after the other.
      endSeconds: this.clock.pieces.length > 0 ? endSeconds : this.#packets * frameSeconds,
      largestStepSeconds: Math.max(this.#largestStepSeconds, largestStepSeconds),
      largestGopSeconds: this.#largestGopSeconds,
      ...(this.#settledSeconds !== undefined && { settledSeconds: this.#settledSeconds }),
      bytes: this.#bytes,
      regular,
      ...(regular && order && { reorderedFrames: order.delayFrames }),
      ...(steady && { steadyRate: steady.framerate, reorderedFrames: steady.reorderedFrames }),
      ...(order && this.#startsBroken && { packetsBeforeKey: this.#beforeKey }),
      ...(pauseSeconds > 0 && { pauseSeconds }),
      ...(breaks > 0 && { breaks }),
      ...(shifts.length > 0 && { shifts }),
    };
  }
}

function isOrdered(prove: () => unknown): boolean {
  try {
    prove();
    return true;
  } catch (error) {
    if (error instanceof BrokenPromiseError) return false;
    throw error;
  }
}
