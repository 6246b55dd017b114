/**
 * Files on their way to the server: a few at once, the others in turn. It lives as long as somebody is signed in, whichever
 * page is looked at.
 *
 * A file is waiting → sending ⇄ paused; sending → done, or failed, from where a person can try again. It leaves the list when
 * it is done or given up.
 */
import type { Upload } from '../../../service/client/index.ts';
import type { Api } from '../../api/api.ts';
import { computeSpeed, type Sample, withSample } from './speed.ts';
import { guessFileType } from './text.ts';
import { beginTransfer, type FileTransfer } from './transfer.ts';
import { computeFingerprint, type UnfinishedUploads } from './unfinished.ts';

export interface Sending {
  /** By which the page knows it. */
  id: string;
  name: string;
  sizeBytes: number;
  sentBytes: number;
  state: 'waiting' | 'sending' | 'paused' | 'failed';
  /** Bytes a second; undefined until it is known. */
  speed: number | undefined;
  /** Once the server knows it. */
  objectID: string | undefined;
  /** Why it failed. */
  problem: string | undefined;
}

interface SendingJob {
  file: File;
  type: Upload['type'];
  shown: Sending;
  samples: Sample[];
  transfer: FileTransfer | undefined;
  /** It is given up, and the file may be chosen anew meanwhile. */
  isLeaving: boolean;
}

export type GuessType = (file: File) => Upload['type'];

/** More would only share the same line. */
const AT_ONCE = 3;

export class Sender {
  readonly #api: Api;
  readonly #memory: UnfinishedUploads;
  readonly #jobs = new Map<string, SendingJob>();
  readonly #listeners = new Set<() => void>();
  /** Objects of the server by the files' ids, also of files that were sent whole. */
  readonly #objectIDs = new Map<string, string>();
  #shown: readonly Sending[] = [];
  /** Called when the server has come to know one, or has all of one. */
  onChanged: () => void = () => undefined;

  constructor(api: Api, memory: UnfinishedUploads) {
    this.#api = api;
    this.#memory = memory;
  }

  get = (): readonly Sending[] => this.#shown;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The upload that a file has become, once the server knows it. */
  findObjectID = (id: string): string | undefined => this.#objectIDs.get(id);

  /** The file that an upload was made of, while this page has sent it. */
  findFileID = (objectID: string): string | undefined =>
    [...this.#objectIDs].find(([, known]) => known === objectID)?.[0];

  /** Takes files on; one that is on its way already is not sent twice. */
  add(files: Iterable<File>, guessType: GuessType = guessFileType): void {
    for (const file of files) {
      const id = computeFingerprint(file);
      const known = this.#jobs.get(id);
      if (known && known.shown.state !== 'failed' && !known.isLeaving) continue;
      const shown: Sending = {
        id,
        name: file.name,
        sizeBytes: file.size,
        sentBytes: 0,
        state: 'waiting',
        speed: undefined,
        objectID: undefined,
        problem: undefined,
      };
      this.#jobs.set(id, { file, type: guessType(file), shown, samples: [], transfer: undefined, isLeaving: false });
    }
    this.#next();
  }

  pause(id: string): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    this.#show(job, { state: 'paused', speed: undefined });
    void job.transfer?.pause();
    this.#next();
  }

  /** After a pause or a failure. */
  resume(id: string): void {
    const job = this.#jobs.get(id);
    if (!job) return;
    this.#show(job, { state: 'waiting', problem: undefined });
    this.#next();
  }

  /** Stops sending it for good; the server deletes the part that it has. Rejects as the API does. */
  async giveUp(id: string): Promise<void> {
    const job = this.#jobs.get(id);
    if (!job) return;
    job.isLeaving = true;
    await job.transfer?.pause();
    const { objectID } = job.shown;
    try {
      if (objectID !== undefined) await this.#api.calls.uploads.delete(objectID);
    } catch (error) {
      job.isLeaving = false;
      throw error;
    }
    if (objectID !== undefined) this.#forget(id, objectID);
    this.#leave(job);
    this.onChanged();
  }

  #forget(id: string, objectID: string): void {
    if (this.#objectIDs.get(id) === objectID) this.#objectIDs.delete(id);
    for (const one of this.#memory.list()) if (one.objectID === objectID) this.#memory.forget(one.key);
  }

  /** Signing out: nothing is sent any more. Sent parts are kept, and the transfer goes on when the file is chosen again. */
  stop(): void {
    for (const { transfer } of this.#jobs.values()) void transfer?.pause();
    this.#jobs.clear();
    this.#tell();
  }

  #next(): void {
    const jobs = [...this.#jobs.values()];
    const free = AT_ONCE - jobs.filter(({ shown }) => shown.state === 'sending').length;
    for (const job of jobs.filter(({ shown }) => shown.state === 'waiting').slice(0, Math.max(0, free)))
      void this.#send(job);
    this.#tell();
  }

  async #send(job: SendingJob): Promise<void> {
    job.samples = [];
    this.#show(job, { state: 'sending' });
    if (job.transfer) return job.transfer.resume();
    try {
      job.transfer = await beginTransfer(this.#api, this.#memory, job, {
        progress: (bytes) => this.#progress(job, bytes),
        begun: (objectID) => {
          if (this.#jobs.get(job.shown.id) === job) this.#objectIDs.set(job.shown.id, objectID);
          this.#show(job, { objectID });
          this.onChanged();
        },
        done: () => {
          this.#leave(job);
          this.onChanged();
        },
        failed: (problem) => {
          this.#show(job, { state: 'failed', problem, speed: undefined });
          this.#next();
        },
      });
      // It was paused, or all was stopped, before the client was there.
      if (this.#jobs.get(job.shown.id) !== job || job.shown.state !== 'sending') await job.transfer.pause();
    } catch {
      const problem = 'A part of this page could not be loaded. Check your connection, and try again.';
      this.#show(job, { state: 'failed', problem });
    }
  }

  #progress(job: SendingJob, bytes: number): void {
    if (job.shown.state !== 'sending') return;
    job.samples = withSample(job.samples, { at: Date.now(), bytes });
    this.#show(job, { sentBytes: bytes, speed: computeSpeed(job.samples) });
  }

  #leave(job: SendingJob): void {
    if (this.#jobs.get(job.shown.id) === job) this.#jobs.delete(job.shown.id);
    this.#next();
  }

  #show(job: SendingJob, change: Partial<Sending>): void {
    job.shown = { ...job.shown, ...change };
    this.#tell();
  }

  #tell(): void {
    this.#shown = [...this.#jobs.values()].map(({ shown }) => shown);
    for (const listener of this.#listeners) listener();
  }
}
