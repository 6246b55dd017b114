/** Describes the machine of a measurement. */
import { cpus, release as kernel, totalmem } from 'node:os';
import { kubeTime } from '../../src/core/lib/clock.ts';
import { ETCD_VERSION, KUBERNETES_VERSION } from '../../tools/control-plane/programs.ts';
import { isCgroupV1 } from '../kit/real/cluster/cgroups.ts';
import { runOrThrow } from '../kit/real/cluster/command.ts';

const versionIn = (text: string): string => /\d+\.\d+\.\d+/.exec(text)?.[0] ?? text.trim();

/** One sentence: date, processors, memory, kernel and versions. */
export async function describeMachine(): Promise<string> {
  const [containerd, runc] = [await runOrThrow('containerd', ['--version']), await runOrThrow('runc', ['--version'])];
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const machine = `${cpus().length} processors, ${memory}, Linux ${kernel().split('-')[0]}, cgroup v${isCgroupV1() ? 1 : 2}`;
  const programs = `Kubernetes ${KUBERNETES_VERSION}, etcd ${ETCD_VERSION}, containerd ${versionIn(containerd)}, runc ${versionIn(runc)}`;
  return `${kubeTime(new Date()).slice(0, 10)}, ${machine}; ${programs}.`;
}
