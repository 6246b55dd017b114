/** Reads the result that the pod of a destination's test leaves as its termination message. Pure: no I/O, no clock. */
import { ProbeResult } from '../resources/destination/spec.ts';
import { type Read, readJson } from './read-message.ts';

export const readTestResult = (text: string | undefined): Read<ProbeResult> => readJson(ProbeResult, text, 'strict');
