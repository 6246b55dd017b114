/** Runs a webhook that converts our kinds, as kube-apiserver asks for it, on loopback with a certificate of its own. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { KubeObject } from '../../../src/kube/types.ts';
import type { WebhookClientConfig } from '../../../src/resources/crd/crds.ts';
import { convertTo } from '../../../src/resources/versions/convert.ts';
import { makeAuthority } from './certificates.ts';

/** apiextensions.k8s.io/v1 ConversionReview. */
interface Review {
  request: { uid: string; desiredAPIVersion: string; objects: KubeObject[] };
}

function answer({ request: { uid, desiredAPIVersion, objects } }: Review) {
  try {
    const convertedObjects = objects.map((object) => convertTo(desiredAPIVersion, object));
    return { uid, convertedObjects, result: { status: 'Success' } };
  } catch (error) {
    return { uid, result: { status: 'Failed', message: (error as Error).message } };
  }
}

export interface Conversion {
  clientConfig: WebhookClientConfig;
  close(): Promise<void>;
}

/** `dir` holds the certificates. */
export async function startConversion(dir: string): Promise<Conversion> {
  const authority = await makeAuthority(dir);
  const { certFile, keyFile } = await authority.issue('conversion', 'IP:127.0.0.1');
  const [cert, key, ca] = await Promise.all([certFile, keyFile, authority.caFile].map((file) => readFile(file)));
  const server = createServer({ cert, key }, async (request, response) => {
    const review = (await json(request)) as Review;
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response: answer(review) }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    clientConfig: { url: `https://127.0.0.1:${port}/convert`, caBundle: (ca as Buffer).toString('base64') },
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
