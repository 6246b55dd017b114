/** Reads a source on a local disk, each part of it once: its header, and every packet. */
import type { MediaLimits } from '../../../protocol/media-limits.ts';
import { type Examined, examine } from './examine.ts';
import type { MediaTools } from './ffprobe.ts';
import { openSource } from './open-source.ts';
import type { MediaType, Source } from './source.ts';
import type { ChosenTracks } from './tracks.ts';

export interface SourceFileOptions {
  type: MediaType;
  tools: MediaTools;
  signal: AbortSignal;
  limits: MediaLimits;
  /** The owner's choice of tracks. A track that cannot be played is not chosen (requireChosen). */
  chosen?: ChosenTracks | undefined;
  /** Returns the frame rate of the rendition that is wanted of it; decides StreamScan.regular. */
  findFramerate?: ((source: Source) => number) | undefined;
  /** Only the tables of its header are there, and its first packets (fast-start.ts). */
  isOutline?: boolean;
}

export class SourceFile {
  readonly path: string;
  readonly #options: SourceFileOptions;
  #header: Promise<Source> | undefined;
  #examined: Promise<Examined> | undefined;

  constructor(path: string, options: SourceFileOptions) {
    this.path = path;
    this.#options = options;
  }

  /** Rejects as openSource() does. */
  openHeader(): Promise<Source> {
    this.#header ??= openSource(this.path, this.#options.type, this.#options);
    return this.#header;
  }

  /** Rejects as examine() does. A reading that `signal` has ended can be repeated. */
  examine(signal = this.#options.signal): Promise<Examined> {
    this.#examined ??= this.#examine(signal).catch((error: unknown) => {
      this.#examined = undefined;
      throw error;
    });
    return this.#examined;
  }

  async #examine(signal: AbortSignal): Promise<Examined> {
    const { type, tools, limits, findFramerate, isOutline = false } = this.#options;
    const header = await this.openHeader();
    const framerate = findFramerate ? { framerate: findFramerate(header) } : {};
    return examine(this.path, header, type, tools, signal, { ...framerate, limits, isOutline });
  }
}
