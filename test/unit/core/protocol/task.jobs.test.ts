/**
 * Tests that operator and Jobs of different releases understand each other. Each message is here as the release before the one that moved
 * the formats to src/core/protocol wrote it. Leave these literals as they are; add one when a format changes.
 */
import { describe, expect, test } from 'vitest';
import { readRecordsTask } from '../../../../src/core/protocol/records.ts';
import { readProgress, readResult, readTask } from '../../../../src/core/protocol/task.ts';
import { readTestResult } from '../../../../src/core/protocol/test-result.ts';

const SHA = 'a'.repeat(64);
const MEDIA =
  `{"sha256":"${SHA}","sizeBytes":1234,"durationSeconds":61.5,"name":"film.mp4",` +
  '"video":{"codec":"h264","width":1920,"height":1080,"framerate":30},' +
  '"audio":{"codec":"aac","sampleRate":48000,"channels":2},' +
  '"tracks":[{"index":0,"kind":"video","codec":"h264","automatic":true},' +
  '{"index":1,"kind":"audio","codec":"aac","language":"eng","title":"Stereo","channels":2,"automatic":true}]}';
const RENDITION =
  '{"profile":"1080p30","state":"ready","key":"renditions/a.flv","durationSeconds":61.5,"bitrateKbps":4500}';
const IDENTITY =
  '"installation":"inst-1","namespace":"streams","name":"upl-1","account":"acc-1","uid":"uid-1","track":"video","origin":"sent"';
const RECORD = `{${IDENTITY},"sourceKey":"sources/uid-1","media":${MEDIA}}`;

describe('a task of the release before is read whole:', () => {
  test.each([
    '{"action":"import","url":"https://a.example/film.mp4","maxBytes":5000,"maxDurationSeconds":3600,"type":"video",' +
      '"sourceKey":"sources/uid-1","renditions":{"content":"c","scope":"s"},"profile":"1080p30","tracks":{"audio":1}}',
    '{"action":"import","sent":{"key":"incoming/uid-1","sizeBytes":1234,"isArriving":true,"keys":["incoming/a"]},' +
      '"type":"audio","sourceKey":"sources/uid-1","renditions":{"content":"c"}}',
    '{"action":"rendition","type":"video","sourceKey":"sources/uid-1","sizeBytes":1234,"profile":"1080p30",' +
      '"renditionKey":"renditions/a.flv","tracks":{"video":0}}',
    '{"action":"range","type":"video","sourceKey":"sources/uid-1","profile":"1080p30","renditionKey":"renditions/a.flv"}',
    '{"action":"sweep","keep":"AAAA","shard":0,"shards":2,"graceSeconds":86400}',
  ])('%s', (text) => {
    expect(readTask(JSON.parse(text))).toEqual({ ok: true, message: JSON.parse(text) });
    const newer = { ...JSON.parse(text), mood: 'good' };
    expect(readTask(newer)).toEqual({ ok: true, message: JSON.parse(text) });
  });

  test('and one that is broken or unknown is a failure: a limit that cannot be read is not left out', () => {
    const link = { action: 'import', url: 'https://a.example', type: 'video', sourceKey: 'sources/uid-1' };
    expect(readTask(link).ok).toBe(true);
    for (const odd of [{ ...link, maxBytes: '5000' }, { ...link, url: undefined }, { action: 'dance' }, null, []])
      expect(readTask(odd), JSON.stringify(odd)).toMatchObject({ ok: false, failure: { code: 'unexpected' } });
  });
});

test('what a Job is told of records is read whole', () => {
  const ofImport = `{"installation":"inst-1","upload":{${IDENTITY}},"deletedUids":["uid-0"]}`;
  const ofSweep = `{"installation":"inst-1","deleted":[{"uid":"uid-0","sourceKey":"sources/uid-0"}],"records":[${RECORD}]}`;
  for (const text of [ofImport, ofSweep])
    expect(readRecordsTask(JSON.parse(text))).toEqual({ ok: true, message: JSON.parse(text) });
  expect(readRecordsTask({ installation: '../../..' }).ok).toBe(false);
});

describe('a result of the release before is read whole:', () => {
  test.each([
    `{"action":"import","media":${MEDIA},"warnings":[{"code":"silence_added","message":"From 60 s on."}],` +
      `"rendition":${RENDITION},"sourceKey":"sources/uid-0"}`,
    `{"action":"rendition","rendition":${RENDITION}}`,
    '{"action":"range","chunks":7}',
    '{"action":"swept","deleted":1,"marked":2,"suspicious":3}',
    '{"action":"failed","error":{"code":"link_unreachable","message":"The link could not be fetched."},' +
      '"retryAfterSeconds":60}',
    '{"action":"failed","error":{"code":"media_too_complex","message":"One step never ended."},"isEndless":true}',
  ])('%s', (text) => expect(readResult(text)).toEqual({ ok: true, message: JSON.parse(text) }));

  test('a code of a later release is not known, and its message still is', () => {
    const error = { code: 'media_sings', message: 'The file sings.' };
    expect(readResult(JSON.stringify({ action: 'failed', error }))).toEqual({
      ok: true,
      message: { action: 'failed', error: { ...error, code: 'prepare_failed' } },
    });
  });

  test.each([undefined, '', '{"action":"import"', '{"action":"import"}', '{"action":"range","chunks":-1}'])(
    '%s is none',
    (text) => expect(readResult(text).ok).toBe(false),
  );
});

test('the progress of a Job is read whole, and one that cannot be so is none', () => {
  const text =
    '{"progress":0.5,"prepared":{"seconds":30,"totalSeconds":61.5,"speed":2.5,"bytes":4321},"ranges":3,' +
    `"profile":"1080p30","imported":{"media":${MEDIA}}}`;
  expect(readProgress(text)).toEqual({ ok: true, message: JSON.parse(text) });
  expect(readProgress('{"progress":2}')).toEqual({ ok: false, failure: { code: 'unexpected', path: '/progress' } });
  expect(readProgress('{')).toEqual({ ok: false, failure: { code: 'not_json', path: '' } });
});

test('the result of a destination’s test is read whole', () => {
  const text = '{"ok":false,"stage":"connect","code":"connection_refused","message":"Nobody listens.","tookMs":12}';
  expect(readTestResult(text)).toEqual({ ok: true, message: JSON.parse(text) });
  expect(readTestResult('{"ok":true}').ok).toBe(false);
});
