/** Tests which namespaces an operator watches, and where it refuses to start. */
import { describe, expect, test } from 'vitest';
import { settingsIn } from '../../../../../src/core/operator/pods/security.ts';
import { findMetered, operatorConfig } from '../../../../../src/core/operator/runtime/settings.ts';

const read = (env: Record<string, string> = {}) =>
  operatorConfig({
    LOOPSTREAM_IMAGE: 'loopstream:1',
    LOOPSTREAM_STORAGE_VOLUME: '{"persistentVolumeClaim":{"claimName":"media"}}',
    LOOPSTREAM_OPERATOR_NAMESPACE: 'service',
    ...env,
  });

describe('the watched namespaces', () => {
  test.each([
    [{}, ['loopstream'], 'loopstream'],
    [{ LOOPSTREAM_NAMESPACE: 'tv' }, ['tv'], 'tv'],
    [{ LOOPSTREAM_NAMESPACE: 'tv', LOOPSTREAM_WATCH_NAMESPACES: 'a' }, ['a'], 'service'],
    [{ LOOPSTREAM_WATCH_NAMESPACES: 'a, b,a' }, ['a', 'b'], 'service'],
    [{ LOOPSTREAM_WATCH_NAMESPACES: '*' }, 'all', 'service'],
    [{ LOOPSTREAM_WATCH_NAMESPACES: '*', LOOPSTREAM_OPERATOR_NAMESPACE: '' }, 'all', 'loopstream'],
  ])('%o: %o, with the Lease in %s', (env, watched, leaseNamespace) => {
    expect(read(env)).toMatchObject({ watched, leaseNamespace });
  });

  test('are names, or all', () => {
    expect(() => read({ LOOPSTREAM_WATCH_NAMESPACES: 'a,*' })).toThrow('must be names of namespaces, or * alone');
  });
});

describe('several namespaces', () => {
  const S3 = { LOOPSTREAM_STORAGE_URL: 's3://media/x', LOOPSTREAM_STORAGE_VOLUME: '' };
  const NFS = { LOOPSTREAM_STORAGE_VOLUME: '{"nfs":{"server":"nas","path":"/media"}}' };
  test.each([
    ['a bucket', S3],
    ['a volume', NFS],
  ])('do not sweep %s that they share', (_, storage) => {
    for (const watched of ['a,b', '*']) {
      const env = { ...storage, LOOPSTREAM_WATCH_NAMESPACES: watched };
      expect(() => read(env)).toThrow('Write {namespace} into it, or set LOOPSTREAM_SWEEP=false.');
      expect(read({ ...env, LOOPSTREAM_SWEEP: 'false' }).sweep).toBe(false);
    }
    expect(read({ ...storage, LOOPSTREAM_WATCH_NAMESPACES: 'a' }).sweep).toBe(true);
  });

  test('have a storage each where its URL names the namespace, or each its claim', () => {
    const url = 's3://media/{namespace}?region=eu';
    const settings = read({ ...S3, LOOPSTREAM_STORAGE_URL: url, LOOPSTREAM_WATCH_NAMESPACES: '*' });
    expect(settingsIn(settings, 'a').storageUrl).toBe('s3://media/a?region=eu');
    expect(settingsIn(settings, 'b')).toEqual({ ...settings, storageUrl: 's3://media/b?region=eu' });
    expect(settingsIn(settings, 'a')).toBe(settingsIn(settings, 'a'));
    const claims = read({ LOOPSTREAM_WATCH_NAMESPACES: 'a,b' });
    expect(settingsIn(claims, 'a')).toBe(claims);
  });
});

test('Jobs have the image of the other pods unless they are given one of their own', () => {
  expect(read()).toMatchObject({ image: 'loopstream:1', prepareImage: 'loopstream:1' });
  expect(read({ LOOPSTREAM_PREPARE_IMAGE: 'loopstream-prepare:1' })).toMatchObject({
    image: 'loopstream:1',
    prepareImage: 'loopstream-prepare:1',
  });
});

test('usage is counted in the namespaces that somebody meters', () => {
  const find = (env: Record<string, string>) => ['a', 'b'].map(findMetered(read(env)));
  expect(find({})).toEqual([false, false]);
  expect(find({ LOOPSTREAM_METERED: 'true' })).toEqual([true, true]);
  expect(find({ LOOPSTREAM_METERED: 'true', LOOPSTREAM_METERED_NAMESPACES: 'b' })).toEqual([false, true]);
  expect(find({ LOOPSTREAM_METERED_NAMESPACES: 'b' })).toEqual([false, false]);
});

describe('the prepared media of an account', () => {
  test('has the bound that the limits of the service set, by default 4 TiB', () => {
    expect(read().maxPreparedBytes).toBe(2 ** 42);
    expect(read({ LOOPSTREAM_LIMITS: '{"trial":{"streams":3}}' }).maxPreparedBytes).toBe(2 ** 42);
    expect(read({ LOOPSTREAM_LIMITS: '{"full":{"preparedBytes":7}}' }).maxPreparedBytes).toBe(7);
  });

  test.each(['{"full":{"preparedBytes":-1}}', '{"full":{"preparedBytes":"7"}}', '{"full":'])('refuses %s', (limits) => {
    expect(() => read({ LOOPSTREAM_LIMITS: limits })).toThrow('LOOPSTREAM_LIMITS must');
  });
});
