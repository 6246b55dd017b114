/** Reads the settings that several roles share. Pure: no I/O, no clock. */
import { ConfigError, type Env, reader } from './settings.ts';

/** For every role. */
export const common = (env: Env) => ({ logLevel: reader(env).text('LOG_LEVEL') });

/** Kubernetes: the kubeconfig file, or the pod's service account when there is none. */
export const kube = (env: Env) => ({
  kubeconfig: env.KUBECONFIG,
  namespace: reader(env).text('NAMESPACE'),
});

/** The largest source file, in bytes. */
export const maxSourceBytes = (env: Env): number => reader(env).integer('MAX_SOURCE_BYTES');

/** Bytes of prepared media of an account of the class `full`: 4 TiB. */
export const DEFAULT_PREPARED_BYTES = 2 ** 42;

/** Reads the bytes of prepared media of an account from `LOOPSTREAM_LIMITS`, whose other rows are the service's. Throws ConfigError. */
export function maxPreparedBytes(env: Env): number {
  const { optional, json } = reader(env);
  const limits = optional('LIMITS') === undefined ? {} : json<{ full?: { preparedBytes?: unknown } } | null>('LIMITS');
  const bytes = limits?.full?.preparedBytes ?? DEFAULT_PREPARED_BYTES;
  if (Number.isSafeInteger(bytes) && Number(bytes) >= 0) return Number(bytes);
  throw new ConfigError('LOOPSTREAM_LIMITS must have a whole number of 0 or more at full.preparedBytes.');
}

/** Stands in the operator's URL of the storage for the namespace of the object that a pod works for. */
export const NAMESPACE_PLACEHOLDER = '{namespace}';
