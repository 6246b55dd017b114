/** Speaks the protocol tus by hand, for requests that no client makes. */
import { createHash } from 'node:crypto';
import type { Client } from '../system/api.ts';

export const TUS_PATH = '/v1/uploads/resumable';
export const BYTES = { 'Content-Type': 'application/offset+octet-stream' };

export const encodeMetadata = (given: Record<string, string>): string =>
  Object.entries(given)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');

export const parseUploadId = ({ headers }: { headers: Headers }): string =>
  headers.get('location')?.split('/').at(-1) ?? '';

export const buildChecksum = (body: string | Buffer, algorithm = 'sha1'): Record<string, string> => ({
  'Upload-Checksum': `${algorithm} ${createHash(algorithm).update(body).digest('base64')}`,
});

/** Sends one request to the upload's path, or to none. */
export type TusWire = ReturnType<typeof tusWire>;

export function tusWire(url: string, as: Pick<Client, 'key'>) {
  const send = async (method: string, id = '', headers: Record<string, string> = {}, body: string | Buffer = '') => {
    const response = await fetch(`${url}${TUS_PATH}${id && `/${id}`}`, {
      method,
      headers: { 'Tus-Resumable': '1.0.0', 'X-API-Key': as.key, ...headers },
      ...(body.length > 0 && { body: body as BodyInit }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined };
  };
  return {
    send,
    /** Creates an upload and returns the answer. */
    create: (headers: Record<string, string>, metadata: Record<string, string> = { type: 'VIDEO' }, body = '') =>
      send('POST', '', { 'Upload-Metadata': encodeMetadata(metadata), ...(body && BYTES), ...headers }, body),
    append: (id: string, offset: number, body: string | Buffer, headers: Record<string, string> = {}) =>
      send('PATCH', id, { ...BYTES, 'Upload-Offset': String(offset), ...headers }, body),
    offset: async (id: string) => (await send('HEAD', id)).headers.get('upload-offset'),
  };
}
