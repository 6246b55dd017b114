/** The token with which the operator controls a stream's pod: in a Secret of the stream, that goes when the stream goes. */
import { randomBytes } from 'node:crypto';
import { type LoopStream, SECRETS, type Secret } from '../kube/resources.ts';
import { CONTROL_TOKEN_KEY, controlSecretName } from '../streams/names.ts';
import { isReason, type Tools } from './control.ts';
import { labelsFor, ownedBy } from './restricted.ts';

const TOKEN_BYTES = 32;

/** Makes the Secret unless it is there: its name carries the stream's UID, so it is no other's. */
export async function ensureToken({ kube }: Pick<Tools, 'kube'>, stream: LoopStream): Promise<void> {
  const { uid, namespace = '' } = stream.metadata;
  const secret = {
    metadata: {
      name: controlSecretName(uid),
      labels: labelsFor(stream, 'streamer'),
      ownerReferences: ownedBy('LoopStream', stream),
    },
    type: 'Opaque',
    immutable: true,
    stringData: { [CONTROL_TOKEN_KEY]: randomBytes(TOKEN_BYTES).toString('base64url') },
  };
  try {
    await kube.create(SECRETS, namespace, secret as unknown as Secret);
  } catch (error) {
    if (!isReason(error, 'AlreadyExists')) throw error;
  }
}

/** Undefined when there is none. */
export async function readToken({ kube }: Pick<Tools, 'kube'>, stream: LoopStream): Promise<string | undefined> {
  const { uid, namespace = '' } = stream.metadata;
  try {
    const { data } = await kube.get(SECRETS, namespace, controlSecretName(uid));
    const token = data?.[CONTROL_TOKEN_KEY];
    return token === undefined ? undefined : Buffer.from(token, 'base64').toString('utf8');
  } catch (error) {
    if (isReason(error, 'NotFound')) return undefined;
    throw error;
  }
}
