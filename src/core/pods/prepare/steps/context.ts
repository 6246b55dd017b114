/** Defines what the steps of a Job work with. */
import type { Logger } from '../../../lib/log.ts';
import type { MediaLimits } from '../../../protocol/media-limits.ts';
import type { PreparedPart, PrepareProgress, PrepareTask } from '../../../protocol/task.ts';
import type { Storage } from '../../storage/storage.ts';
import type { LookTools } from '../look/draw.ts';

export type RenditionTask = Extract<PrepareTask, { action: 'rendition' }>;

/** A rendition to make. */
export interface Target extends Pick<RenditionTask, 'type' | 'profile' | 'renditionKey' | 'tracks'> {
  /** True where chunks under its key may be of another content: only a chunk with the same bytes is kept. */
  keepsSameOnly?: boolean;
  /** True where the source is read to its end anyway, as by an import. */
  isRead?: boolean;
}

export interface JobContext {
  storage: Storage;
  tools: LookTools;
  /** Local directory for the files that tools read. */
  inputDir?: string | undefined;
  signal: AbortSignal;
  log: Logger;
  /** Limits of the media. */
  limits: MediaLimits;
  /** True where every streamer that may play a rendition takes any frame rate (OWN_RATE_VERSION). */
  ownRates?: boolean;
  onProgress?: (fraction: number) => void;
  /** Called with the seconds of a rendition, from its beginning on, that can be played. */
  onPrepared?: (part: PreparedPart) => void;
  /** Called with the number of ranges of a rendition that other Jobs may make; undefined when there is nothing to share any more. */
  onRanges?: (ranges: number | undefined) => void;
  /** The profile that a stream waits for, once the operator has named one to an import. */
  asked?: Promise<string>;
  /** Called when an import begins to make the rendition of a profile. */
  onBegun?: (profile: string) => void;
  /** Called once the source of an import is in storage, before anything else of it is deleted. */
  keepRecord?: (imported: NonNullable<PrepareProgress['imported']>) => Promise<void>;
  /** How long the poster may take, in milliseconds. */
  posterMs?: number;
  /** Called when the poster of an import begins and ends to be made. */
  onPoster?: (isMaking: boolean) => void;
  /** Called when an import has stored its source and still makes its rendition or its poster. */
  onImported?: (imported: NonNullable<PrepareProgress['imported']>) => void;
}
