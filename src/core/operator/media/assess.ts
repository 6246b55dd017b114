/**
 * Assesses the media of a stream once for a whole decision: what can be played of it, and how much is prepared, by the renditions of its
 * uploads. Pure: no I/O, no clock.
 */

import type { Playing } from '../../resources/stream/playing.ts';
import { leaveOutQuarantined } from '../../resources/stream/quarantine.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { Preparation } from '../../resources/stream/spec.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { findRendition } from '../../resources/upload/spec.ts';
import type { Finding } from '../runtime/controller.ts';
import {
  type Assessed,
  assessTracks,
  countItems,
  type Entry,
  findMediaProblem,
  findProfile,
  isOnTheWay,
  listEntries,
  listUnplayable,
  losesItems,
  type MediaObjects,
} from './items.ts';

export interface MediaAssessment {
  tracks: readonly Assessed[];
  /** Why the media cannot go on air; undefined when it can. */
  problem: Finding | undefined;
  /** Number of items, those that cannot be played included. */
  itemCount: number;
  /** Items that cannot be played, the most urgent first. */
  unplayable: readonly Entry[];
  /** How much of the media is prepared, until all of it is. */
  preparation: Preparation | undefined;
  /**
   * `playing` without what is in quarantine, while the media that the stream refers to cannot replace it: none can be played yet, or less
   * than will be in a while.
   */
  goesOnWith: Playing | undefined;
}

/** `playing` is what is on air, or was. */
export function assessMedia(stream: LoopStream, objects: MediaObjects, playing: Playing | undefined): MediaAssessment {
  const tracks = assessTracks(stream, objects);
  const kept = playing && leaveOutQuarantined(playing, objects.uploads);
  const problem = findMediaProblem(stream, tracks);
  return {
    tracks,
    problem,
    itemCount: countItems(tracks),
    unplayable: listUnplayable(tracks),
    preparation: computePreparation({ stream, uploads: objects.uploads, tracks }),
    goesOnWith: kept && (problem || losesItems(tracks, kept)) ? kept : undefined,
  };
}

interface AssessedMedia extends Pick<MediaObjects, 'uploads'> {
  stream: LoopStream;
  tracks: readonly Assessed[];
}

interface Part {
  /** Length in seconds; undefined until the file has been imported. */
  seconds: number | undefined;
  /** 0 to 1. */
  prepared: number;
  estimatedReadyAt?: string | undefined;
}

function readPart(upload: Upload, profile: string): Part {
  const rendition = findRendition(upload, profile);
  const seconds = rendition?.durationSeconds ?? upload.status?.media?.durationSeconds;
  if (rendition?.state === 'ready') return { seconds, prepared: 1 };
  const { preparedSeconds = 0, estimatedReadyAt } = rendition ?? {};
  // The whole is prepared when its state says so.
  const prepared = seconds ? Math.min(preparedSeconds / seconds, MOST) : 0;
  return { seconds, prepared, estimatedReadyAt };
}

/** Nothing that is not complete is shown as 1. */
const MOST = 0.99;

/** Uploads that are prepared or on their way to that, each once. */
function listParts({ stream, uploads, tracks }: AssessedMedia): Part[] {
  const names = tracks.flatMap((track) =>
    listEntries(track).flatMap(({ upload, problem }) =>
      upload && (!problem || isOnTheWay(problem.reason)) ? [upload] : [],
    ),
  );
  return [...new Set(names)].flatMap((name) => {
    const upload = uploads.get(name);
    return upload ? [readPart(upload, findProfile(stream))] : [];
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/**
 * Returns the prepared part of what a stream plays, weighted by length, in hundredths; undefined once all is prepared. An item
 * whose length is not known yet counts as the mean of the others. Items that have failed do not count where others can be played.
 */
export function computePreparation(media: AssessedMedia): Preparation | undefined {
  const parts = listParts(media);
  const open = parts.filter(({ prepared }) => prepared < 1);
  if (parts.length > 0 && open.length === 0) return undefined;
  const known = parts.flatMap(({ seconds }) => seconds ?? []);
  const mean = known.length === 0 ? 1 : sum(known) / known.length;
  // No length is 0, so that no sum is.
  const weighted = parts.map(({ seconds = mean, prepared }) => ({ weight: Math.max(seconds, 1), prepared }));
  const total = sum(weighted.map(({ weight }) => weight));
  const done = sum(weighted.map(({ weight, prepared }) => weight * prepared));
  const prepared = total === 0 ? 0 : Math.min(Math.floor((100 * done) / total) / 100, MOST);
  const times = open.flatMap(({ estimatedReadyAt }) => estimatedReadyAt ?? []);
  const last = times.length === open.length ? times.sort().at(-1) : undefined;
  return { prepared, ...(last !== undefined && { estimatedReadyAt: last }) };
}

/** A part as people read it: `12 %`. */
export const formatPart = (prepared: number): string => `${Math.floor(100 * prepared)} %`;
