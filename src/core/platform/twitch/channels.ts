/** Reads what people give as a channel, and what Helix `GET /users` says of it. Pure: no I/O, no clock. */

/** How a channel is asked for: a login name, or an id, which has digits alone. A login may have digits alone too. */
export interface ChannelName {
  login: string;
  id?: string;
}

/** Takes a login name, an id, or the address of the channel's page, with or without an @. */
export function parseChannel(text: string): ChannelName {
  const trimmed = text.trim();
  const url = trimmed.includes('/') ? URL.parse(/^https?:/i.test(trimmed) ? trimmed : `https://${trimmed}`) : null;
  const path = url?.pathname.split('/').find((part) => part !== '');
  const login = (path ?? trimmed).replace(/^@/, '').toLowerCase();
  return /^\d+$/.test(login) ? { login, id: login } : { login };
}

/** Ids of users by what they were asked for; an id counts before a login. Undefined if the answer cannot be read. */
export function readUsers(answer: unknown): { id: string; login: string }[] | undefined {
  const data = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(data)) return undefined;
  return data.filter(
    (one): one is { id: string; login: string } =>
      typeof one === 'object' && one !== null && typeof one.id === 'string' && typeof one.login === 'string',
  );
}

export function findUserId({ login, id }: ChannelName, users: readonly { id: string; login: string }[]) {
  const byId = id === undefined ? undefined : users.find((user) => user.id === id);
  return (byId ?? users.find((user) => user.login.toLowerCase() === login))?.id;
}
