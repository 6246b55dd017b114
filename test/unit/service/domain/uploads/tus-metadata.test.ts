import { describe, expect, test } from 'vitest';
import type { UploadSpec } from '../../../../../src/core/resources/upload/spec.ts';
import { readKind, readName } from '../../../../../src/service/domain/uploads/tus-metadata.ts';
import { protocolHeaders, tidyMetadata } from '../../../../../src/service/server/tus/headers.ts';

describe('the metadata of a tus upload and its kind', () => {
  test.each<[metadata: Record<string, string | null>, kind: UploadSpec['track'] | undefined]>([
    [{ type: 'VIDEO' }, 'video'],
    [{ type: ' audio ' }, 'audio'],
    [{ Type: 'Video' }, 'video'],
    [{ type: 'IMAGE', filetype: 'image/png' }, 'image'],
    // Uppy 6 with its defaults, and examples of tus-js-client.
    [{ name: 'a.mp4', type: 'video/mp4', filetype: 'video/mp4', filename: 'a.mp4', relativePath: 'null' }, 'video'],
    [{ filetype: 'audio/mpeg', filename: 'a.mp3' }, 'audio'],
    [{ filetype: 'Video/MP4; codecs="avc1.4d002a, mp4a.40.2"' }, 'video'],
    [{ 'content-type': 'audio/ogg' }, 'audio'],
    [{ mimeType: 'image/png' }, 'video'],
    [{ type: 'application/mxf' }, 'video'],
    // A kind of ours counts more than a MIME type, and that more than a name, in any order.
    [{ type: 'video/mp4', filetype: 'AUDIO' }, 'audio'],
    [{ type: 'audio/mp4', filename: 'a.mp4' }, 'audio'],
    [{ type: 'application/octet-stream', filetype: 'video/webm' }, 'video'],
    [{ type: 'application/octet-stream', filename: 'song.final.FLAC' }, 'audio'],
    [{ type: '', filename: 'holiday.MTS' }, 'video'],
    [{ type: null, name: 'talk.opus' }, 'audio'],
    [{ type: 'text/vnd.trolltech.linguist', filename: 'recording.ts' }, 'video'],
    [{ filename: 'still.webp' }, 'video'],
    [{ name: 'My holiday', filename: 'a.mkv' }, 'video'],
    [{ name: 'My holiday', relativePath: 'holiday/b.mov' }, 'video'],
    [{}, undefined],
    [{ type: 'FILM' }, undefined],
    [{ type: 'application/octet-stream', filename: 'film' }, undefined],
    [{ type: 'application/pdf', filename: 'a.pdf' }, undefined],
    [{ filename: 'mp4' }, undefined],
    [{ filename: 'a.mp4/b' }, undefined],
  ])('%j: %s', (metadata, kind) => expect(readKind(metadata)).toBe(kind));

  test.each<[Record<string, string | null>, string]>([
    [{ name: 'Holiday', filename: 'a.mp4' }, 'Holiday'],
    [{ name: '', filename: 'a.mp4' }, 'a.mp4'],
    [{ Filename: 'b.mp4' }, 'b.mp4'],
    [{ type: 'VIDEO' }, ''],
  ])('%j is named %j', (metadata, name) => expect(readName(metadata)).toBe(name));
});

describe('headers of tus clients', () => {
  test.each<[sent: string, taken: string | undefined]>([
    ['type VklERU8=,filename YS5tcDQ=', 'type VklERU8=,filename YS5tcDQ='],
    ['type VklERU8, filename  YS5tcDQ', 'type VklERU8=,filename YS5tcDQ='],
    ['is_confidential,type VklERU8=,', 'is_confidential,type VklERU8='],
    ['name 8J-OpQ', 'name 8J+OpQ=='],
    ['name ', 'name'],
    ['', undefined],
    [' , ', undefined],
    // A nonsensical value stays, and is refused.
    ['type ***', 'type ***='],
    ['a b c', 'a b c'],
  ])('metadata %j', (sent, taken) => expect(tidyMetadata(sent)).toBe(taken));

  test('of a proxy and of other protocols do not reach the library', () => {
    const headers = { 'x-forwarded-proto': 'https,http', 'tus-version': '0.2', cookie: 'a=b', 'upload-offset': '0' };
    expect(protocolHeaders({ ...headers, 'content-type': 'Application/Offset+Octet-Stream; charset=utf-8' })).toEqual({
      'upload-offset': '0',
      'content-type': 'application/offset+octet-stream',
    });
    expect(protocolHeaders({ 'content-type': 'application/octet-stream' })).toEqual({});
  });
});
