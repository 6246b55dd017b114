import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../src/core/kube/core.ts';
import {
  ContainerConfigError,
  expand,
  fieldValue,
  resolveArgv,
  resolveEnvironment,
} from '../../../../tools/node-agent/environment.ts';
import type { Container, EnvVar } from '../../../../tools/node-agent/types.ts';

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

describe('environment and argv', () => {
  it('$(VAR) is replaced, $$ escapes, and unknown names stay', () => {
    expect(expand('a $(X) $$(X) $(Y) $x $', { X: '1' })).toBe('a 1 $(X) $(Y) $x $');
  });

  it('text without a dollar stays the same, for any variables', () => {
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

  it('args follow the entrypoint, a command replaces it, and only the pod’s own text is rewritten', () => {
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
