/**
 * Reads Secrets, ConfigMaps and claims when they are used. Several pods that refresh the same one within a second share
 * one read. A pod that begins sees the current state, and not another pod's earlier read, as with a kubelet.
 */

import type { Pod, Secret } from '../../src/core/kube/core.ts';
import { SECRETS } from '../../src/core/kube/core.ts';
import { type Kube, KubeError, type KubeObject, type Resource } from '../../src/core/kube/types.ts';
import { type Clock, systemClock } from '../../src/core/lib/clock.ts';
import type { LookUp } from './environment.ts';
import { getSpec, type HostPath, type SourceName, type TokenItem } from './types.ts';
import type { LookUpBytes } from './volume-content.ts';

type ConfigMap = KubeObject<never> & { data?: Record<string, string>; binaryData?: Record<string, string> };

const CONFIG_MAPS: Resource<ConfigMap> = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

const CLAIMS: Resource<KubeObject<{ volumeName?: string }>> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
};
const PERSISTENT_VOLUMES: Resource<KubeObject<{ hostPath?: HostPath }>> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  namespaced: false,
};

const SHARED_FOR_MS = 1000;

type Bytes = Record<string, Buffer>;

export class Sources {
  readonly #kube: Kube;
  readonly #clock: Clock;
  readonly #tokens = new Map<string, { token: string; renewAt: number }>();
  readonly #reads = new Map<string, { at: number; value: Promise<Bytes | undefined> }>();

  constructor(kube: Kube, clock: Clock = systemClock) {
    this.#kube = kube;
    this.#clock = clock;
  }

  /**
   * Reads these; the answer knows no others. `fresh`: whatever others have read a moment ago. Throws KubeError when the API
   * server cannot be asked.
   */
  async bytes(namespace: string, names: readonly SourceName[], { fresh = false } = {}): Promise<LookUpBytes> {
    const found = new Map<string, Bytes | undefined>();
    for (const { kind, name } of names) found.set(`${kind}/${name}`, await this.#read(namespace, kind, name, fresh));
    return (kind, name) => found.get(`${kind}/${name}`);
  }

  /** The same as text, for environments. */
  async text(namespace: string, names: readonly SourceName[]): Promise<LookUp> {
    const bytes = await this.bytes(namespace, names);
    return (kind, name) => {
      const data = bytes(kind, name);
      return data && Object.fromEntries(Object.entries(data).map(([key, value]) => [key, value.toString('utf8')]));
    };
  }

  /**
   * Returns the target of a claim, which has to be a path of this machine: there is nothing to attach other volumes.
   */
  async claimed(namespace: string, claimName: string): Promise<HostPath> {
    const { volumeName } = (await this.#kube.get(CLAIMS, namespace, claimName)).spec;
    if (!volumeName) throw new Error(`claim "${claimName}" is not bound yet`);
    const { hostPath } = (await this.#kube.get(PERSISTENT_VOLUMES, '', volumeName)).spec;
    if (!hostPath) throw new Error(`persistent volume "${volumeName}" is not of the kind hostPath`);
    return hostPath;
  }

  /** A token of the pod's service account that dies with the pod (TokenRequest), renewed after 80 % of its life. */
  async token(pod: Pod, volume: string, item: TokenItem): Promise<string> {
    const key = `${pod.metadata.uid}/${volume}/${item.path}`;
    const now = this.#clock.now().getTime();
    for (const [other, { renewAt }] of this.#tokens) if (renewAt <= now) this.#tokens.delete(other);
    const known = this.#tokens.get(key);
    if (known) return known.token;
    const { token, expiresAt } = await this.#requestToken(pod, item);
    this.#tokens.set(key, { token, renewAt: now + (expiresAt - now) * 0.8 });
    return token;
  }

  async #requestToken(pod: Pod, { audience, expirationSeconds }: TokenItem) {
    const { name, namespace = '', uid } = pod.metadata;
    const account = getSpec(pod).serviceAccountName || 'default';
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    const spec = {
      audiences: audience ? [audience] : [],
      expirationSeconds: expirationSeconds ?? 3600,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    };
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
    const { status, text } = await this.#kube.raw('POST', path, body);
    if (status >= 300) throw new Error(`no token for service account ${account}: the API server answered ${status}`);
    const answer = JSON.parse(text) as { status: { token: string; expirationTimestamp: string } };
    return { token: answer.status.token, expiresAt: Date.parse(answer.status.expirationTimestamp) };
  }

  #read(namespace: string, kind: SourceName['kind'], name: string, fresh: boolean): Promise<Bytes | undefined> {
    const now = this.#clock.monotonicMs();
    for (const [key, { at }] of this.#reads) if (now - at >= SHARED_FOR_MS) this.#reads.delete(key);
    const key = `${kind}/${namespace}/${name}`;
    const known = this.#reads.get(key);
    if (known && !fresh) return known.value;
    const value = this.#get(namespace, kind, name);
    this.#reads.set(key, { at: now, value });
    // Only what was found is shared: what is missing is asked for again until it is there.
    value.then(
      (found) => found ?? this.#reads.delete(key),
      () => this.#reads.delete(key),
    );
    return value;
  }

  async #get(namespace: string, kind: SourceName['kind'], name: string): Promise<Bytes | undefined> {
    try {
      if (kind === 'Secret') return decode((await this.#kube.get<Secret>(SECRETS, namespace, name)).data, 'base64');
      const map = await this.#kube.get(CONFIG_MAPS, namespace, name);
      return { ...decode(map.data, 'utf8'), ...decode(map.binaryData, 'base64') };
    } catch (error) {
      if (error instanceof KubeError && error.status === 404) return undefined;
      throw error;
    }
  }
}

const decode = (data: Record<string, string> | undefined, encoding: BufferEncoding): Bytes =>
  Object.fromEntries(Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, encoding)]));
