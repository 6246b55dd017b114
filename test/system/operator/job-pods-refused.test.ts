/** Tests on a real control plane that an upload says why the pod of its Job is refused, and goes on by itself once that is mended. */
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { JOBS, NAMESPACES, PODS } from '../../../src/core/kube/core.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { createRefusals, NEEDS_TEAM, QUOTAS, type Refusals } from '../../kit/make/refusals.ts';
import {
  aroundEachTest,
  createUpload,
  finishJob,
  kube,
  NS,
  operator,
  startOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

let refusals: Refusals;
beforeAll(() => {
  refusals = createRefusals(kube, NS);
});
afterEach(() => refusals.remove());

const STANDARD = 'pod-security.kubernetes.io/enforce';
const setStandard = (standard: string) =>
  kube.mergePatch(NAMESPACES, '', NS, { metadata: { labels: { [STANDARD]: standard } } });

interface Refusing {
  what: string;
  refuse: () => Promise<unknown>;
  mend?: () => Promise<unknown>;
  words: string;
}

it.each<Refusing>([
  {
    what: 'a policy',
    refuse: async () => {
      await refusals.makePolicy({ resources: 'pods' });
      await refusals.untilPodsRefused();
    },
    words: NEEDS_TEAM,
  },
  {
    what: 'a ResourceQuota',
    refuse: async () => {
      await refusals.make(QUOTAS, 'none', { spec: { hard: { pods: '0' } } });
      await refusals.untilPodsRefused('exceeded quota');
    },
    words: 'exceeded quota: none',
  },
  {
    what: 'Pod Security',
    refuse: async () => {
      // The standard of the namespace allows no volume of the node.
      await operator.lifecycle.stop();
      const { lifecycle } = await startOperator({}, { storageVolume: { hostPath: { path: '/media' } } });
      onTestFinished(() => lifecycle.stop());
    },
    mend: async () => {
      await setStandard('privileged');
      onTestFinished(() => void setStandard('restricted'));
    },
    words: 'violates PodSecurity "restricted',
  },
])('an upload says that $what refuses the pod of its Job, and is imported once that is mended', async (one) => {
  const { refuse, mend = refusals.remove, words } = one;
  await refuse();
  await createUpload();
  const refused = await until('it says why', async () => {
    const { status } = await kube.get(UPLOADS, NS, 'film');
    return findCondition(status?.conditions, 'Reconciling')?.message.includes(words) && status;
  });
  expect(findCondition(refused.conditions, 'Ready')).toMatchObject({ status: 'False', reason: 'JobRefused' });
  expect(findCondition(refused.conditions, 'Stalled')).toBeUndefined();
  expect(await kube.list(JOBS, { namespace: NS })).toHaveLength(1);
  expect(await kube.list(PODS, { namespace: NS })).toEqual([]);
  await mend();
  await finishJob('film-import', { action: 'import', media: MEDIA });
  const imported = await until('it is imported', async () => {
    const { status } = await kube.get(UPLOADS, NS, 'film');
    return findCondition(status?.conditions, 'Imported')?.status === 'True' && status;
  });
  expect(findCondition(imported.conditions, 'Ready')?.reason).not.toBe('JobRefused');
});
