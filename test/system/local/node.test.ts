/** Tests a kubelet's guarantees for the node agent on the real control plane, with local processes as pods. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LEASES, NODES, PODS, type PodStatus, SECRETS } from '../../../src/core/kube/core.ts';
import type { KubeObject } from '../../../src/core/kube/types.ts';
import {
  listProcesses,
  main,
  NS,
  podSpec,
  ready,
  SERVER,
  startTestNode,
  type TestNode,
  until,
} from '../../kit/real/node.ts';

let node: TestNode;
beforeAll(async () => {
  node = await startTestNode();
});
afterAll(() => node?.stop());

const IP = { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } };
const WAIT = 'setInterval(() => {}, 1000);';
const DEAF = `process.on('SIGTERM', () => {}); console.log('up'); ${WAIT}`;
/** A process ignores the signal only after it has printed. */
const up = (name: string) => until(`${name} to say so`, async () => (await node.readLog(name)).startsWith('up'));

describe('the node', () => {
  it('is Ready, has a lease, and schedulable pods find it', async () => {
    const object = (await node.kube.get(NODES, '', 'node-a')) as KubeObject<unknown, PodStatus>;
    expect(ready(object.status ?? {})).toBe(true);
    await until('the lease', () => node.kube.get(LEASES, 'kube-node-lease', 'node-a'));
    await node.kube.create(PODS, NS, {
      metadata: { name: 'scheduled' },
      spec: { ...podSpec({ script: WAIT }), nodeName: '' } as never,
    });
    await node.untilReady('scheduled');
    expect((await node.kube.get(PODS, NS, 'scheduled')).spec.nodeName).toBe('node-a');
    await node.kube.delete(PODS, NS, 'scheduled', { gracePeriodSeconds: 0 });
  });
});

describe('a pod', () => {
  it('serves on an address of its own, and its readiness reaches the status as fast as its probe sees it', async () => {
    const readinessProbe = { httpGet: { path: '/', port: 'web' }, periodSeconds: 8, failureThreshold: 1 };
    const container = { env: [IP], ports: [{ name: 'web', containerPort: 8000 }], readinessProbe };
    await node.createPod('server-1', { script: SERVER, container });
    await node.createPod('server-2', { script: SERVER, container });
    const [one, two] = [await node.untilReady('server-1'), await node.untilReady('server-2')];
    expect(one.podIP).toMatch(/^127\.16\.\d+\.\d+$/);
    expect(two.podIP).not.toBe(one.podIP);
    expect(one).toMatchObject({ phase: 'Running', hostIP: '127.0.0.1' });
    expect(main(one)).toMatchObject({ ready: true, started: true, restartCount: 0, image: 'test:1' });
    expect(await (await fetch(`http://${two.podIP}:8000/`)).text()).toBe(two.podIP);

    await fetch(`http://${one.podIP}:8000/flip`);
    const unready = await until(
      'not ready',
      async () => !ready(await node.status('server-1')) && node.status('server-1'),
      30_000,
    );
    expect(unready.conditions?.find(({ type }) => type === 'Ready')?.message).toBe(
      'containers with unready status: [main]',
    );
    // The delay is less than a period of the probe, so the file existed at the probe; measured: below 100 ms.
    const seen = Date.now();
    // The agent may receive the answer before it has read the earlier output.
    const answered = await until('its log', async () => /unready at (\d+)/.exec(await node.readLog('server-1'))?.[1]);
    expect(seen - Number(answered)).toBeLessThan(7500);
    await fetch(`http://${one.podIP}:8000/flip`);
    await node.untilReady('server-1');
    expect(main(await node.status('server-1'))?.restartCount).toBe(0);
    await until('the event', async () =>
      (await node.listEvents('server-1')).some(({ reason }) => reason === 'Unhealthy'),
    );
    for (const name of ['server-1', 'server-2']) await node.kube.delete(PODS, NS, name, { gracePeriodSeconds: 1 });
    await node.untilGone(PODS, 'server-1');
  });

  it('sees the files of a Secret and of its annotations change under its mount path', async () => {
    await node.createPod('files', {
      script: `setInterval(() => {
        const read = (path) => require('node:fs').readFileSync(path, 'utf8').trim();
        console.log([read('/keys/token'), read('/pod/annotations').includes('two'), read(process.env.FILE)].join(' '));
      }, 100)`,
      annotations: { note: 'one' },
      container: {
        env: [{ name: 'FILE', value: '/keys/nested/name' }],
        volumeMounts: [
          { name: 'keys', mountPath: '/keys' },
          { name: 'pod', mountPath: '/pod' },
        ],
      },
      spec: {
        volumes: [
          {
            name: 'keys',
            secret: {
              secretName: 'late',
              items: [
                { key: 'token', path: 'token' },
                { key: 'name', path: 'nested/name' },
              ],
            },
          },
          {
            name: 'pod',
            downwardAPI: { items: [{ path: 'annotations', fieldRef: { fieldPath: 'metadata.annotations' } }] },
          },
        ],
      },
    });
    const failed = await until('the failed mount', async () =>
      (await node.listEvents('files')).find(({ reason }) => reason === 'FailedMount'),
    );
    expect(failed.message).toContain('secret "late" not found');
    expect(main(await node.status('files'))?.state?.waiting?.reason).toBe('ContainerCreating');
    await node.kube.create(SECRETS, NS, {
      metadata: { name: 'late' },
      stringData: { token: 'old', name: 'n' },
    } as never);
    await until('the first files', async () => (await node.readLog('files')).includes('old false n'));
    await node.kube.mergePatch(SECRETS, NS, 'late', { stringData: { token: 'new' } });
    await node.kube.mergePatch(PODS, NS, 'files', { metadata: { annotations: { note: 'two' } } });
    await until('the new files', async () => (await node.readLog('files', '?tailLines=1')).includes('new true n'));
    await node.kube.delete(PODS, NS, 'files');
    await node.untilGone(PODS, 'files');
  });

  it('that crashes is restarted at once, then ever later, and says so', async () => {
    await node.createPod('crash', {
      script: 'console.error("oh no"); process.exit(3)',
      container: { terminationMessagePolicy: 'FallbackToLogsOnError' },
    });
    const backedOff = await until('the backoff', async () => {
      const status = await node.status('crash');
      return main(status)?.state?.waiting?.reason === 'CrashLoopBackOff' && (main(status)?.restartCount ?? 0) >= 2
        ? status
        : undefined;
    });
    expect(backedOff.phase).toBe('Running');
    expect(main(backedOff)?.lastState?.terminated).toMatchObject({ exitCode: 3, reason: 'Error', message: 'oh no\n' });
    expect(await node.readLog('crash', '?previous=true')).toBe('oh no\n');
    await until('the event', async () =>
      (await node.listEvents('crash')).some((event) => event.reason === 'Started' && event.count === 3),
    );
    await node.kube.delete(PODS, NS, 'crash');
    await node.untilGone(PODS, 'crash');
  });

  it('that fails its liveness probe is killed and restarted', async () => {
    const livenessProbe = { tcpSocket: { port: 8000 }, periodSeconds: 1, failureThreshold: 1, initialDelaySeconds: 1 };
    await node.createPod('lifeless', {
      script: WAIT,
      container: { livenessProbe },
      spec: { terminationGracePeriodSeconds: 1 },
    });
    const restarted = await until('a restart', async () => {
      const status = await node.status('lifeless');
      return (main(status)?.restartCount ?? 0) > 0 && status;
    });
    expect(main(restarted)?.lastState?.terminated).toMatchObject({ exitCode: 143, signal: 15 });
    await node.kube.delete(PODS, NS, 'lifeless', { gracePeriodSeconds: 0 });
  });

  it('with an image that no program stands for waits and says why', async () => {
    await node.createPod('imageless', { container: { image: 'unknown:1', imagePullPolicy: 'Never' } });
    const waiting = await until(
      'the reason',
      async () =>
        main(await node.status('imageless'))?.state?.waiting?.message !== undefined && node.status('imageless'),
    );
    expect(main(waiting)?.state?.waiting?.reason).toBe('ErrImageNeverPull');
    expect(waiting.phase).toBe('Pending');
    await node.kube.delete(PODS, NS, 'imageless');
    await node.untilGone(PODS, 'imageless');
  });

  it('past its deadline has failed', async () => {
    await node.createPod('late-pod', { script: WAIT, spec: { activeDeadlineSeconds: 1 } });
    const failed = await until(
      'the failure',
      async () => (await node.status('late-pod')).phase === 'Failed' && node.status('late-pod'),
    );
    expect(failed.reason).toBe('DeadlineExceeded');
    await node.kube.delete(PODS, NS, 'late-pod');
  });
});

describe('deletion', () => {
  it('gives the grace that was asked for, and the object goes only when no process is left', async () => {
    const script = `
      process.on('SIGTERM', () => console.log('asked'));
      require('node:child_process').spawn('sleep', ['300'], { detached: true });
      console.log('up');
      ${WAIT}`;
    const { uid } = (await node.createPod('stubborn', { script })).metadata;
    await up('stubborn');
    expect(listProcesses(uid)).toHaveLength(2);
    const lines = until('the request', async () => (await node.readLog('stubborn')).includes('asked'), 5000);
    const began = performance.now();
    await node.kube.delete(PODS, NS, 'stubborn', { gracePeriodSeconds: 2 });
    await lines;
    await node.untilGone(PODS, 'stubborn');
    expect(performance.now() - began).toBeGreaterThan(1900);
    expect(performance.now() - began).toBeLessThan(10_000);
    await until('no process left', async () => listProcesses(uid).length === 0, 1000);
  });

  it('by force kills at once', async () => {
    const { uid } = (await node.createPod('forced', { script: DEAF })).metadata;
    await up('forced');
    await node.kube.delete(PODS, NS, 'forced', { gracePeriodSeconds: 0 });
    await until('no process left', async () => listProcesses(uid).length === 0, 2000);
  });

  it('of a pod whose name is taken again: the new one starts when the old one is gone', async () => {
    const first = await node.createPod('again', { script: DEAF });
    await up('again');
    await node.kube.delete(PODS, NS, 'again', { gracePeriodSeconds: 1 });
    await node.untilGone(PODS, 'again');
    const second = await node.createPod('again', { script: WAIT });
    await node.untilReady('again');
    expect(listProcesses(first.metadata.uid)).toEqual([]);
    expect(listProcesses(second.metadata.uid)).toHaveLength(1);
    await node.kube.delete(PODS, NS, 'again', { gracePeriodSeconds: 0 });
  });
});

describe('logs through the API server', () => {
  it('are followed line by line until the container ends', async () => {
    const script = `
      const lines = ['one', 'two', 'three'];
      setInterval(() => lines.length ? console.log(lines.shift()) : process.exit(), 300);`;
    await node.createPod('talker', { script, spec: { restartPolicy: 'Never' } });
    await until('its start', async () => main(await node.status('talker'))?.state?.running !== undefined);
    expect(await node.readLog('talker', '?follow=true')).toBe('one\ntwo\nthree\n');
    expect(await node.readLog('talker', '?tailLines=1')).toBe('three\n');
    expect(await node.readLog('talker', '?timestamps=true&tailLines=1')).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z three\n$/);
    await node.kube.delete(PODS, NS, 'talker');
  });

  it('are refused without a certificate of the cluster', async () => {
    const object = (await node.kube.get(NODES, '', 'node-a')) as unknown as {
      status: { daemonEndpoints: { kubeletEndpoint: { Port: number } } };
    };
    await expect(
      fetch(`https://127.0.0.1:${object.status.daemonEndpoints.kubeletEndpoint.Port}/pods`),
    ).rejects.toThrow();
  });
});

describe('an agent', () => {
  async function startAgent(): Promise<ReturnType<typeof spawn>> {
    const options = { ...(await node.argumentsFor('node-b')), podCidr: '127.17.0.0/16' };
    const program = new URL('../../kit/real/node-agent.ts', import.meta.url).pathname;
    const agent = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(agent.stdout, 'data');
    return agent;
  }

  it('that was killed is followed by one that restarts its pods, each exactly once', async () => {
    const first = await startAgent();
    const script = `require('node:fs').writeFileSync(process.env.SAYS, 'for 7 s'); ${DEAF}`;
    const container = { env: [{ name: 'SAYS', value: '/dev/termination-log' }] };
    const pod = await node.createPod('survivor', { script, container, spec: { nodeName: 'node-b' } });
    const before = await node.untilReady('survivor');
    await up('survivor');
    const [old] = listProcesses(pod.metadata.uid);
    first.kill('SIGKILL');
    await once(first, 'exit');
    expect(listProcesses(pod.metadata.uid)).toEqual([old]);

    const second = await startAgent();
    const after = await until('the restart', async () => {
      const status = await node.status('survivor');
      return main(status)?.restartCount === 1 && ready(status) && status;
    });
    const [now, ...others] = listProcesses(pod.metadata.uid);
    expect(others).toEqual([]);
    expect(now).not.toBe(old);
    expect(after.podIP).toBe(before.podIP);
    const { reason, message } = main(after)?.lastState?.terminated ?? {};
    expect([reason, message]).toEqual(['ContainerStatusUnknown', 'for 7 s']);

    second.kill('SIGTERM');
    await once(second, 'exit');
    expect(listProcesses(pod.metadata.uid)).toEqual([]);
    expect((await node.status('survivor')).phase).toBe('Running');

    const third = await startAgent();
    await until('the next restart', async () => main(await node.status('survivor'))?.restartCount === 2);
    await node.kube.delete(PODS, NS, 'survivor', { gracePeriodSeconds: 1 });
    await node.untilGone(PODS, 'survivor');
    third.kill('SIGTERM');
    await once(third, 'exit');
  });
});
