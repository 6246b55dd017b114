/** Declares the values of the role that looks at what viewers see. Pure: no I/O, no clock. */
import { flag, group, secretName, type Value, whole } from './schema.ts';
import { valueFor } from './settings.ts';

/** `deployment` has the values that each Deployment has. */
export const buildPlatform = (deployment: Record<string, Value>): Value =>
  group(
    'The role `platform`: it tells what viewers see of each destination that names its platform, and why they do not see the stream (docs/viewers.md). It needs a way out to these platforms, and costs little while no destination names one.',
    {
      enabled: flag('Install it. Without it, what viewers see is Unknown.', false),
      replicas: whole('Replicas, of which one leads.', 1, 1, 10),
      allowPrivateWatch: valueFor('ALLOW_PRIVATE_WATCH'),
      existingSecret: secretName(
        'An existing Secret with the keys `youtubeApiKey`, `youtubeClientSecret` and `twitchClientSecret`, as far as they are used.',
      ),
      youtube: group('The project at Google whose quota is used.', {
        clientId: valueFor('YOUTUBE_CLIENT_ID'),
        budgetUnits: valueFor('YOUTUBE_BUDGET_UNITS'),
      }),
      twitch: group('The application at Twitch.', { clientId: valueFor('TWITCH_CLIENT_ID') }),
      ...deployment,
    },
  );
