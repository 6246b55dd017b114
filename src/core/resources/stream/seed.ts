/** Computes the seed by which a stream shuffles its lists. Pure: no I/O, no clock. */
import { createHash } from 'node:crypto';
import type { LoopStream } from './resource.ts';

/** A number below 2^32 that differs for each UID. */
export const computeSeed = (uid: string): number => createHash('sha256').update(uid).digest().readUInt32BE(0);

/** The seed of a stream: the same for its whole life, also after a backup of it was restored with its status. */
export const findSeed = ({ metadata, status }: LoopStream): number => status?.seed ?? computeSeed(metadata.uid);
