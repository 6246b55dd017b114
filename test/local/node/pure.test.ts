import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../src/kube/core.ts';
import { Addresses } from '../../../tools/node-agent/addresses.ts';
import {
  ContainerConfigError,
  expand,
  fieldValue,
  resolveArgv,
  resolveEnvironment,
} from '../../../tools/node-agent/environment.ts';
import { pathRewriter } from '../../../tools/node-agent/paths.ts';
import { afterOutcome, NO_VERDICT, timing } from '../../../tools/node-agent/probes.ts';
import { backoffMs, restarts, restartsAfter } from '../../../tools/node-agent/restart.ts';
import type { Container, EnvVar } from '../../../tools/node-agent/types.ts';

const pod = {
  metadata: {
    name: 'one',
    namespace: 'ns',
    uid: 'u-1',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'x', tier: 'a "b"' },
    annotations: { note: 'hello' },
  },
  spec: { nodeName: 'n1' },
} as Pod;
const address = { podIP: '127.16.0.7', hostIP: '127.0.0.1' };
const container = (env: EnvVar[], more: Partial<Container> = {}): Container => ({
  name: 'c',
  image: 'i',
  env,
  ...more,
});
const nothing = () => undefined;

describe('mount paths', () => {
  const rewrite = pathRewriter([
    { mountPath: '/media', realPath: '/real/m' },
    { mountPath: '/media/cache/', realPath: '/real/c' },
  ]);

  it.each([
    ['/media', '/real/m'],
    ['/media/a.mp4', '/real/m/a.mp4'],
    ['file:///media/a.mp4', 'file:///real/m/a.mp4'],
    ['FILE:///media', 'FILE:///real/m'],
    ['--dir=/media', '--dir=/real/m'],
    ['/bin:/media:/media/cache', '/bin:/real/m:/real/c'],
    ['{"key":"/media/a","b":["/media"]}', '{"key":"/real/m/a","b":["/real/m"]}'],
    ["require('/media/x')", "require('/real/m/x')"],
  ])('%s is found as the beginning of a path', (text, expected) => {
    expect(rewrite(text)).toBe(expected);
  });

  it.each(['/srv/media', '/mediatheque', '/media.json', 'https://media/x', 'https://host/media', './media', '/Media'])(
    '%s is another path and stays',
    (text) => {
      expect(rewrite(text)).toBe(text);
    },
  );

  it('what was put in is not rewritten again', () => {
    const nested = pathRewriter([
      { mountPath: '/a', realPath: '/b/a' },
      { mountPath: '/b', realPath: '/c' },
    ]);
    expect(nested('/a/x /b')).toBe('/b/a/x /c');
  });

  it('a volume at / is not rewritten', () => {
    expect(pathRewriter([{ mountPath: '/', realPath: '/real' }])('/etc/passwd')).toBe('/etc/passwd');
  });
});

describe('environment and argv', () => {
  it('$(VAR) is replaced, $$ escapes, and unknown names stay', () => {
    expect(expand('a $(X) $$(X) $(Y) $x $', { X: '1' })).toBe('a 1 $(X) $(Y) $x $');
  });

  it('text without a dollar is left as it is, whatever the variables', () => {
    fc.assert(
      fc.property(fc.string(), fc.dictionary(fc.string(), fc.string()), (text, variables) => {
        const plain = text.replaceAll('$', '');
        expect(expand(plain, variables)).toBe(plain);
      }),
    );
  });

  it('later variables see earlier ones, Secrets, ConfigMaps and fields', () => {
    const lookUp = (kind: string, name: string) =>
      kind === 'Secret' && name === 's' ? { key: 'hush' } : kind === 'ConfigMap' ? { A: '1', B: '2' } : undefined;
    const spec = container(
      [
        { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
        { name: 'URL', value: 'http://$(IP):80/$(P_A)' },
        { name: 'KEY', valueFrom: { secretKeyRef: { name: 's', key: 'key' } } },
        { name: 'MAY', valueFrom: { secretKeyRef: { name: 'none', key: 'key', optional: true } } },
      ],
      { envFrom: [{ prefix: 'P_', configMapRef: { name: 'm' } }] },
    );
    expect(resolveEnvironment(spec, pod, address, lookUp)).toEqual({
      P_A: '1',
      P_B: '2',
      IP: '127.16.0.7',
      URL: 'http://127.16.0.7:80/1',
      KEY: 'hush',
    });
  });

  it('a missing Secret or key is a configuration error that names it', () => {
    const missing = container([{ name: 'K', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }]);
    expect(() => resolveEnvironment(missing, pod, address, nothing)).toThrow(
      new ContainerConfigError('secret "s" not found'),
    );
    expect(() => resolveEnvironment(missing, pod, address, () => ({}))).toThrow("couldn't find key k in Secret s");
  });

  it('fields of the pod, all labels as sorted lines, and unknown ones refused', () => {
    expect(fieldValue("metadata.labels['app']", pod, address)).toBe('x');
    expect(fieldValue("metadata.annotations['none']", pod, address)).toBe('');
    expect(fieldValue('metadata.labels', pod, address)).toBe('app="x"\ntier="a \\"b\\""');
    expect(fieldValue('spec.nodeName', pod, address)).toBe('n1');
    expect(() => fieldValue('spec.secret', pod, address)).toThrow(ContainerConfigError);
  });

  it('args follow the entrypoint, a command replaces it, and only what the pod says is rewritten', () => {
    const rewrite = (text: string) => text.replace('/m', '/real');
    const entrypoint = ['/m/node', 'main.ts'];
    expect(resolveArgv(container([], { args: ['/m/$(A)'] }), entrypoint, { A: 'x' }, rewrite)).toEqual([
      '/m/node',
      'main.ts',
      '/real/x',
    ]);
    expect(resolveArgv(container([], { command: ['/m/run'] }), entrypoint, {}, rewrite)).toEqual(['/real/run']);
  });
});

describe('probes', () => {
  const rhythm = timing({ successThreshold: 2, failureThreshold: 3 });
  const verdicts = (outcomes: string) => {
    let state = NO_VERDICT;
    return [...outcomes].map((outcome) => {
      state = afterOutcome(state, outcome === '+', rhythm);
      return state.verdict;
    });
  };

  it('a verdict changes when its threshold is reached in a row, not before', () => {
    expect(verdicts('++')).toEqual([undefined, true]);
    expect(verdicts('++--+---')).toEqual([undefined, true, true, true, true, true, true, false]);
    expect(verdicts('---+-++')).toEqual([undefined, undefined, false, false, false, false, true]);
  });
});

describe('restarts', () => {
  it('the first is at once, then 1 s doubling to 60 s, until a run of ten minutes', () => {
    expect([0, 1, 2, 3, 6, 7, 100].map(backoffMs)).toEqual([0, 1000, 2000, 4000, 32_000, 60_000, 60_000]);
    expect(restartsAfter(5, 599_999)).toBe(5);
    expect(restartsAfter(5, 600_000)).toBe(0);
  });

  it.each([
    ['Always', 0, true],
    ['Always', 1, true],
    ['OnFailure', 0, false],
    ['OnFailure', 1, true],
    ['Never', 1, false],
  ] as const)('%s after exit code %i: %s', (policy, exitCode, expected) => {
    expect(restarts(policy, { exitCode })).toBe(expected);
  });
});

describe('addresses', () => {
  it('each owner keeps its own, a freed one rests, and the wanted one is given when it is free', () => {
    const addresses = new Addresses('127.16.0.0/29');
    expect(addresses.claim('a')).toBe('127.16.0.1');
    expect(addresses.claim('b')).toBe('127.16.0.2');
    expect(addresses.claim('a')).toBe('127.16.0.1');
    addresses.release('a');
    expect(addresses.claim('c')).toBe('127.16.0.3');
    expect(addresses.claim('d', '127.16.0.1')).toBe('127.16.0.1');
    expect(addresses.claim('e', '127.16.0.1')).toBe('127.16.0.4');
    expect(addresses.claim('f', '10.0.0.1')).toBe('127.16.0.5');
    expect(addresses.claim('g')).toBe('127.16.0.6');
    expect(() => addresses.claim('h')).toThrow('No address is left');
  });
});
