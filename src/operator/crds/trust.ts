/** Keeps the certificate of the conversion webhook in its Secret, and makes the definitions trust it. */
import { CRDS, SECRETS } from '../../kube/core.ts';
import { formatApiVersion } from '../../kube/paths.ts';
import { hasReason, type Kube } from '../../kube/types.ts';
import { CONVERSION_PATH, DEFINITION_NAMES } from '../../resources/common/names.ts';
import { buildConversion } from '../../resources/crd/crds.ts';
import { ConfigError } from '../../settings/settings.ts';
import { type CertificateData, renewCertificate, renewLeafOnly } from './certificate.ts';

const FIELD_MANAGER = 'loopstream-conversion';
const SERVICE_PORT = 443;

export interface Webhook {
  namespace: string;
  /** Name of the Service that leads to the operators. */
  service: string;
  /** Name of the Secret with the certificate. */
  secret: string;
}

const decode = (data: Record<string, string> = {}): Partial<CertificateData> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));

/** Reads the Secret; empty where it does not exist. */
export async function readCertificate(
  kube: Pick<Kube, 'get'>,
  { namespace, secret }: Webhook,
): Promise<Partial<CertificateData>> {
  try {
    return decode((await kube.get(SECRETS, namespace, secret)).data);
  } catch (error) {
    if (hasReason(error, 'NotFound')) return {};
    throw error;
  }
}

/**
 * Makes the Secret, or renews what of it is half over; with `leafOnly` never the authority, which the definitions then trust already.
 * Resolves to its data, and whether any of it is new. Throws ConfigError where only the certificate may be made, and there is no authority.
 */
export async function ensureCertificate(
  kube: Pick<Kube, 'get' | 'apply'>,
  webhook: Webhook,
  { now, leafOnly }: { now: Date; leafOnly: boolean },
): Promise<{ data: CertificateData; renewed: boolean }> {
  const { namespace, service, secret } = webhook;
  const before = await readCertificate(kube, webhook);
  const hosts = [`${service}.${namespace}.svc`];
  const data = await (leafOnly ? renewLeafOnly : renewCertificate)(before, hosts, now);
  if (!data)
    throw new ConfigError(
      `There is no authority in the Secret ${secret} in ${namespace}. Upgrade the release, which makes one.`,
    );
  if (data === before) return { data, renewed: false };
  const object = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: secret,
      labels: { 'app.kubernetes.io/name': 'loopstream', 'app.kubernetes.io/component': 'conversion' },
    },
    type: 'kubernetes.io/tls',
    data: Object.fromEntries(Object.entries(data).map(([key, pem]) => [key, Buffer.from(pem).toString('base64')])),
  };
  await kube.apply(SECRETS, namespace, object, { fieldManager: FIELD_MANAGER });
  return { data, renewed: true };
}

/**
 * Makes each definition that exists call the webhook, and trust the authorities in `caBundle` (PEM). Resolves to the names of those that do not
 * exist yet. A definition with one version converts nothing, so this changes nothing while the release before is at work.
 */
export async function trustWebhook(
  kube: Pick<Kube, 'get' | 'apply'>,
  { namespace, service }: Webhook,
  caBundle: string,
): Promise<string[]> {
  const conversion = buildConversion({
    service: { namespace, name: service, path: CONVERSION_PATH, port: SERVICE_PORT },
    caBundle: Buffer.from(caBundle).toString('base64'),
  });
  const missing: string[] = [];
  for (const name of DEFINITION_NAMES) {
    const exists = await kube.get(CRDS, '', name).then(
      () => true,
      (error: unknown) => {
        if (hasReason(error, 'NotFound')) return false;
        throw error;
      },
    );
    if (!exists) missing.push(name);
    else {
      const definition = {
        apiVersion: formatApiVersion(CRDS),
        kind: CRDS.kind,
        metadata: { name },
        spec: { conversion },
      };
      await kube.apply(CRDS, '', definition, { fieldManager: FIELD_MANAGER });
    }
  }
  return missing;
}
