/** Reads the settings of the role `platform`. Pure: no I/O, no clock. */
import { LEADER_ELECTION, watch } from '../operator/runtime/settings.ts';
import { confineMode } from '../protocol/environment.ts';
import { common, kube } from '../settings/common.ts';
import { type Env, reader } from '../settings/settings.ts';

/** The OAuth clients and keys are the installer's; those that are not set leave out what needs them. */
export const platformConfig = (env: Env) => {
  const { text, optional, integer, flag, secret } = reader(env);
  const { namespace, kubeconfig } = kube(env);
  return Object.freeze({
    ...common(env),
    kubeconfig,
    ...watch(env),
    /** Where the ConfigMap is that all processes of the installation share. */
    ownNamespace: optional('OPERATOR_NAMESPACE') ?? namespace,
    leaderElection: flag('LEADER_ELECTION') ? LEADER_ELECTION : undefined,
    opsHost: text('OPS_HOST'),
    opsPort: integer('OPS_PORT', 'platform'),
    ffmpeg: text('FFMPEG'),
    confine: confineMode(env),
    allowPrivateWatch: flag('ALLOW_PRIVATE_WATCH'),
    youtube: {
      apiKey: secret('YOUTUBE_API_KEY'),
      clientId: optional('YOUTUBE_CLIENT_ID'),
      clientSecret: secret('YOUTUBE_CLIENT_SECRET'),
      budgetUnits: integer('YOUTUBE_BUDGET_UNITS'),
      apiUrl: text('YOUTUBE_API_URL'),
      tokenUrl: text('GOOGLE_TOKEN_URL'),
    },
    twitch: {
      clientId: optional('TWITCH_CLIENT_ID'),
      clientSecret: secret('TWITCH_CLIENT_SECRET'),
      apiUrl: text('TWITCH_API_URL'),
      tokenUrl: text('TWITCH_TOKEN_URL'),
    },
  });
};
export type PlatformConfig = ReturnType<typeof platformConfig>;
