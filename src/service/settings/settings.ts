/** Reads the settings of the hosted service, those that it shares with the operator included. Pure: no I/O, no clock. */
import { kube } from '../../core/settings/common.ts';
import { createReader, type Env, type SecretIn } from '../../core/settings/settings.ts';
import { SETTINGS } from './table.ts';

export const reader = createReader(SETTINGS);
export type SecretName = SecretIn<typeof SETTINGS>;

/** For the roles that read the resources of accounts: the process's own namespace, and further ones. */
export const cells = (env: Env) => ({ ...kube(env), cellNamespaces: reader(env).list('CELL_NAMESPACES') });

/** Lists the namespaces of accounts, each once, the process's own first. */
export const listNamespaces = ({
  namespace,
  cellNamespaces,
}: Pick<ReturnType<typeof cells>, 'namespace' | 'cellNamespaces'>) => [...new Set([namespace, ...cellNamespaces])];
