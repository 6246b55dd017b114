/** Runs an operator beside a test API, and makes objects of the API's accounts as people with kubectl do. */
import type { KubeObject, Resource } from '../../../src/core/kube/types.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { runOperator } from '../../../src/core/operator/main.ts';
import { operatorConfig } from '../../../src/core/operator/runtime/settings.ts';
import { ACCOUNT_LABEL, API_VERSION } from '../../../src/core/resources/common/names.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { SETTINGS } from '../make/operator.ts';
import { silent } from '../real/kube.ts';
import type { Client, TestApi } from './api.ts';

/** Returns the operator's lifecycle; stop it in afterAll, before the API. */
export async function startApiOperator({ kubernetes }: Pick<TestApi, 'kubernetes'>): Promise<Lifecycle> {
  const lifecycle = new Lifecycle();
  const config = operatorConfig({
    LOOPSTREAM_IMAGE: SETTINGS.image,
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_STORAGE_VOLUME: '{"emptyDir":{}}',
    LOOPSTREAM_LEADER_ELECTION: 'false',
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
    KUBECONFIG: kubernetes.kubeconfig,
    LOOPSTREAM_NAMESPACE: NAMESPACE,
  });
  await runOperator(config, lifecycle, silent);
  return lifecycle;
}

/** Creates an object of an account. */
export const createOwned = (
  { kube }: Pick<TestApi, 'kube'>,
  { accountId }: Pick<Client, 'accountId'>,
  resource: Resource,
  name: string,
  more: object,
) =>
  kube.create(resource as Resource<KubeObject>, NAMESPACE, {
    apiVersion: resource.group === '' ? resource.version : API_VERSION,
    kind: resource.kind,
    metadata: { name, labels: { [ACCOUNT_LABEL]: accountId } },
    ...more,
  } as unknown as KubeObject);
