import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../../../src/core/pods/storage/open.ts';
import { readAnswer, s3Error } from '../../../../../src/core/pods/storage/s3-error.ts';
import { parseS3Url } from '../../../../../src/core/pods/storage/s3-url.ts';
import { streamerConfig } from '../../../../../src/core/protocol/environment.ts';
import { run } from '../../../../kit/run.ts';

describe('the storage URL', () => {
  test.each(['http://bucket', '/plain', 'file://host/path', ''])('%j is refused', async (url) => {
    await expect(openStorage(url)).rejects.toThrow('must look like file:///path or s3://bucket/prefix');
  });

  test('a bucket alone is enough, on Amazon', () => {
    expect(parseS3Url(new URL('s3://media'))).toEqual({
      bucket: 'media',
      prefix: '',
      region: 'us-east-1',
      endpoint: undefined,
      forcePathStyle: false,
    });
  });

  test('has settings in every part', () => {
    const url = 's3://media.example/a/b/?endpoint=http://s3:9000&region=eu-central-1&forcePathStyle=false';
    expect(parseS3Url(new URL(url))).toEqual({
      bucket: 'media.example',
      prefix: 'a/b/',
      region: 'eu-central-1',
      endpoint: 'http://s3:9000',
      forcePathStyle: false,
    });
    expect(parseS3Url(new URL('s3://media?endpoint=https://s3')).forcePathStyle).toBe(true);
  });

  test.each([
    ['s3:///prefix', 'must name a bucket'],
    ['s3://UPPER_case', 'must name a bucket'],
    ['s3://key:hunter2@media', 'must not contain credentials'],
    ['s3://media?secret=hunter2', 'no other parameters'],
    ['s3://media?endpoint=ftp://x', 'such as http://host:port'],
    ['s3://media?endpoint=http://key:hunter2@x', 'such as http://host:port'],
    ['s3://media?forcePathStyle=yes', 'must have true or false'],
    ['s3://media/a%20b', 'a prefix of the characters'],
  ])('%j is refused without repeating its secrets', async (url, message) => {
    const error = await openStorage(url).catch((reason: unknown) => reason);
    expect(String(error)).toContain(message);
    expect(String(error)).not.toContain('hunter2');
  });

  test('of a directory does not load the SDK of S3', async () => {
    const script = `
      import { registerHooks } from 'node:module';
      let sdk = 0;
      registerHooks({ resolve(name, context, next) { if (name.startsWith('@aws-sdk/')) sdk++; return next(name, context); } });
      const { openStorage } = await import(${JSON.stringify(join(import.meta.dirname, '../../../../../src/core/pods/storage/open.ts'))});
      await openStorage('file:///nowhere');
      const before = sdk;
      await openStorage('s3://media');
      process.stdout.write(before + ' then ' + (sdk > 0));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).toBe('0 then true');
  });
});

describe('the credentials', () => {
  const env = { LOOPSTREAM_PROGRAM_FILE: 'p', LOOPSTREAM_DESTINATIONS_FILE: 'd', LOOPSTREAM_STORAGE_URL: 's3://media' };

  test('are read from the environment, both or neither', () => {
    expect(streamerConfig(env).storageCredentials).toBeUndefined();
    const both = { ...env, LOOPSTREAM_S3_ACCESS_KEY_ID: 'id', LOOPSTREAM_S3_SECRET_ACCESS_KEY: 'hunter2' };
    expect(streamerConfig(both).storageCredentials).toEqual({ accessKeyId: 'id', secretAccessKey: 'hunter2' });
    expect(() => streamerConfig({ ...env, LOOPSTREAM_S3_SECRET_ACCESS_KEY: 'hunter2' })).toThrow(
      'LOOPSTREAM_S3_ACCESS_KEY_ID is not set.',
    );
  });
});

describe('S3 errors become a StorageError that says what to do', () => {
  const answer = (name: string, status?: number, code?: string) =>
    Object.assign(new Error('AKIA hunter2'), {
      name,
      code,
      $metadata: { httpStatusCode: status },
      AWSAccessKeyId: 'AKIA',
    });

  test.each([
    ['NoSuchKey', 404, undefined, 'not_found', 'object does not exist'],
    ['NoSuchBucket', 404, undefined, 'unavailable', 'Bucket media does not exist'],
    ['QuotaExceeded', 403, undefined, 'full', 'is full'],
    ['Unknown', 507, undefined, 'full', 'is full'],
    ['SignatureDoesNotMatch', 403, undefined, 'unavailable', 'rejected the credentials'],
    ['CredentialsProviderError', undefined, undefined, 'unavailable', 'LOOPSTREAM_S3_ACCESS_KEY_ID'],
    ['PermanentRedirect', 301, undefined, 'unavailable', 'region'],
    ['AccessDenied', 403, undefined, 'unavailable', 'denies these credentials access to bucket media'],
    ['SlowDown', 503, undefined, 'unavailable', 'HTTP 503'],
    ['Error', undefined, 'ECONNREFUSED', 'unavailable', 'cannot be reached (ECONNREFUSED)'],
  ])('%s %s %s', (name, status, system, code, sentence) => {
    const error = s3Error(answer(name, status, system), 'media');
    expect(error).toMatchObject({ name: 'StorageError', code });
    expect((error as Error).message).toContain(sentence);
    expect(JSON.stringify([error, (error as Error).cause, (error as Error).stack])).not.toMatch(/AKIA|hunter2/);
  });

  test('an abort stays an abort', () => {
    const abort = new DOMException('stop', 'AbortError');
    expect(s3Error(abort, 'media')).toBe(abort);
    expect(readAnswer(undefined).name).toBe('Error');
  });
});
