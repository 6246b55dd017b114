/** Says how often a streamer's pod reports, which the operator holds it to. Pure: no I/O, no clock. */
import type { Rate } from '../lib/rate.ts';

export const REPORT_RATE: Rate = { everyMs: 15_000, burst: 20 };
