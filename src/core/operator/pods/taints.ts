/** Tells which nodes repel a pod. Pure: no I/O, no clock. */
import type { Node, Taint, Toleration } from '../../kube/core.ts';

/** Taints that Kubernetes puts on a silent node: it may answer again at any moment. */
const UNHEARD = new Set(['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']);

/** Somebody says by it that nothing runs on the node. */
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/ */
const bears = ({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean =>
  (key === undefined || key === '' ? operator === 'Exists' : key === taint.key) &&
  (effect === undefined || effect === '' || effect === taint.effect) &&
  (operator === 'Exists' || value === (taint.value ?? ''));

const CORDON: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Why no pod with these tolerations may come to a node, or stay there, as the predicate of a sentence; undefined where it may. */
export function findRepulsion({ spec }: Node, tolerations: readonly Toleration[]): string | undefined {
  const borne = (taint: Taint) => tolerations.some((toleration) => bears(toleration, taint));
  if (spec?.unschedulable && !borne(CORDON)) return 'is cordoned';
  const taint = (spec?.taints ?? []).find(
    (one) => (one.effect === 'NoSchedule' || one.effect === 'NoExecute') && !UNHEARD.has(one.key) && !borne(one),
  );
  return taint && `is tainted ${taint.key}:${taint.effect}`;
}

/** https://kubernetes.io/docs/concepts/cluster-administration/node-shutdown/#non-graceful-node-shutdown */
export const isOutOfService = ({ spec }: Node): boolean =>
  (spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);

/** Whether its kubelet reports to Kubernetes, and is well. */
export const isNodeReady = ({ status }: Node): boolean =>
  (status?.conditions ?? []).some((one) => one.type === 'Ready' && one.status === 'True');
