/** Describes how far a file of a new stream has come. Pure: no I/O, no clock. */
import type { Upload } from '../../../service/client/index.ts';
import { quote } from '../../lib/isolate.ts';
import type { Sending } from '../uploads/sender.ts';
import { formatProgress } from '../uploads/sendingText.ts';
import type { DraftFile } from './draft.ts';

export interface FileState {
  state: 'sending' | 'paused' | 'cut' | 'sent' | 'failed' | 'gone';
  /** A sentence or a few words on it. */
  text: string;
  fix?: string;
  /** From 0 to 1, while it is sent. */
  progress?: number;
  /** Once the server has made one. */
  posterUrl?: string;
}

const CUT: FileState = {
  state: 'cut',
  text: 'Not sent completely. Choose the same file again to continue where it stopped.',
};
const GONE: FileState = { state: 'gone', text: 'It was deleted in the meantime. Choose the file again.' };

function describeSending(sending: Sending): FileState {
  const { state, sentBytes, sizeBytes, problem } = sending;
  const progress = sizeBytes === 0 ? 0 : sentBytes / sizeBytes;
  if (state === 'failed') return { state, text: problem ?? formatProgress(sending), progress };
  return { state: state === 'paused' ? 'paused' : 'sending', text: formatProgress(sending), progress };
}

/** Facts about a file: its transfer in this browser, and its upload at the server. */
export interface FileSources {
  sending: Sending | undefined;
  /** undefined until the uploads are known, null for one that does not exist. */
  upload: Upload | null | undefined;
  /** The browser remembers that it was not sent whole. */
  isUnfinished: boolean;
}

export function describeFile({ objectID }: DraftFile, { sending, upload, isUnfinished }: FileSources): FileState {
  if (sending) return describeSending(sending);
  if (objectID === '') return CUT;
  if (upload?.state === 'failed' && upload.error)
    return { state: 'failed', text: upload.error.message, fix: upload.error.fix };
  if (isUnfinished && upload?.state === 'importing') return CUT;
  if (upload === null) return GONE;
  return {
    state: 'sent',
    text: upload?.state === 'importing' ? 'Sent. Being checked.' : 'Sent.',
    ...(upload?.posterUrl && { posterUrl: upload.posterUrl }),
  };
}

/** Why a stream cannot be made of the files yet; undefined where it can. */
export function findFilesProblem(states: readonly FileState[], files: readonly DraftFile[]): string | undefined {
  const at = states.findIndex(({ state }) => state === 'gone' || state === 'failed');
  const named = (index: number) => quote(files[index]?.name ?? '');
  if (at >= 0) return `${named(at)}: ${states[at]?.text}`;
  const early = files.findIndex(({ objectID }) => objectID === '');
  if (early < 0) return undefined;
  return states[early]?.state === 'cut'
    ? `${named(early)}: ${CUT.text}`
    : `${named(early)} has not begun to be sent yet. Wait a moment.`;
}

/** Whether time alone makes all files known to the server. */
export const areFilesBeginning = (states: readonly FileState[], files: readonly DraftFile[]): boolean =>
  files.some(({ objectID }) => objectID === '') &&
  states.every(({ state }, at) =>
    files[at]?.objectID === '' ? state === 'sending' : state !== 'gone' && state !== 'failed',
  );
