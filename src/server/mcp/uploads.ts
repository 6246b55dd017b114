/** Tools: uploads. */

import { Upload, UploadFromLink, type Upload as UploadRecord } from '../../domain/uploads/record.ts';
import type { UploadService } from '../../domain/uploads/service.ts';
import { flatten, listOf } from '../http/page.ts';
import { Deleted, idOf, PAGE, pageOf, sayDeleted, sayPage, waitFor } from './inputs.ts';
import { type Call, type Tool, tool } from './tool.ts';
import { waiting } from './waiting.ts';

const id = idOf('objectID of the upload, as list_uploads tells it.');
const wait = waitFor('it is ready or has failed');

export function sayUpload({ name, objectID, state, progress, warnings, error }: UploadRecord): string {
  const what = `Upload "${name}" (${objectID})`;
  if (state === 'failed') return `${what} failed: ${error?.message ?? 'the reason is not known.'}`;
  const doing = state === 'ready' ? `${what} is ready.` : `${what} is ${state}, ${Math.round(100 * progress)} %.`;
  return [doing, ...warnings.map(({ message }) => message)].join(' ');
}

export function uploadTools(uploads: UploadService): Tool[] {
  const settle = (call: Call, objectID: string, seconds: number) =>
    waiting(call, seconds, sayUpload, (watch) => uploads.settled(call.accountId, objectID, seconds, watch));
  return [
    tool({
      name: 'create_upload_from_link',
      title: 'Import media from a link',
      description:
        'Imports a video or audio file from a public http or https link. It takes from seconds to minutes: give `wait`, or call get_upload with `wait` until `state` is ready.',
      operations: ['createUploadFromLink'],
      ...{ own: wait, body: UploadFromLink, output: Upload, keyed: true, reachesOut: true },
      say: sayUpload,
      run: async (call, { wait: seconds = 0 }, body) => {
        const made = await uploads.fromLink(call.accountId, body);
        return seconds === 0 ? made : settle(call, made.objectID, seconds);
      },
    }),
    tool({
      name: 'list_uploads',
      title: 'List uploads',
      description: 'Uploads of the account, newest first.',
      operations: ['listUploads'],
      ...{ own: PAGE, output: listOf(Upload, 'UploadList') },
      say: sayPage,
      run: ({ accountId }, page) => flatten(uploads.list(accountId, pageOf(page))),
    }),
    tool({
      name: 'get_upload',
      title: 'Look at an upload',
      description: 'One upload. With `wait` it answers when the upload is ready or has failed.',
      operations: ['getUpload'],
      ...{ own: { ...id, ...wait }, output: Upload },
      say: sayUpload,
      run: async (call, { id: objectID, wait: seconds = 0 }) => {
        const upload = uploads.get(call.accountId, objectID);
        return seconds === 0 ? upload : settle(call, objectID, seconds);
      },
    }),
    tool({
      name: 'retry_upload',
      title: 'Try a failed upload again',
      description:
        'Fetches the link of an upload again that has failed; it keeps its id. Refused for what is on its way or ready, and for files that a client has sent.',
      operations: ['retryUpload'],
      ...{ own: { ...id, ...wait }, output: Upload, keyed: true, reachesOut: true },
      say: sayUpload,
      run: async (call, { id: objectID, wait: seconds = 0 }) => {
        const upload = await uploads.retry(call.accountId, objectID);
        return seconds === 0 ? upload : settle(call, objectID, seconds);
      },
    }),
    tool({
      name: 'delete_upload',
      title: 'Delete an upload',
      description: 'Deletes an upload and its media. Refused while a stream or a playlist plays it.',
      operations: ['deleteUpload'],
      ...{ own: id, output: Deleted },
      say: sayDeleted,
      run: async ({ accountId }, { id: objectID }) => {
        await uploads.delete(accountId, objectID);
        return { id: objectID, done: true };
      },
    }),
  ];
}
