/** Reads etcd of a test's control plane, which shows in which version kube-apiserver has stored an object. */
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import type { KubeObject } from '../../../src/kube/types.ts';
import type { ControlPlane } from '../../../tools/control-plane/controlplane.ts';

const OURS = '/registry/loopstream.dev/';
/** The first key behind all that begin with it. */
const BEHIND = '/registry/loopstream.dev0';

const encode = (text: string) => Buffer.from(text).toString('base64');

/** Returns all objects of loopstream as etcd has them, by its JSON gateway. */
export async function readStoredObjects({ certificates, etcdUrl }: Pick<ControlPlane, 'certificates' | 'etcdUrl'>) {
  const { certFile, keyFile } = certificates.etcdClient;
  const [ca, cert, key] = await Promise.all([certificates.etcdCaFile, certFile, keyFile].map((file) => readFile(file)));
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const call = request(`${etcdUrl}/v3/kv/range`, { method: 'POST', ca, cert, key, agent: false }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    response.on('end', () => resolve(text));
  });
  call.on('error', reject).end(JSON.stringify({ key: encode(OURS), range_end: encode(BEHIND) }));
  const { kvs = [] } = JSON.parse(await promise) as { kvs?: { value: string }[] };
  return kvs.map(({ value }) => JSON.parse(Buffer.from(value, 'base64').toString()) as KubeObject);
}
