/** Signs tokens with the server's own key, as no outsider can, so that the test's change is a token's only fault. */
import { symmetricDecrypt } from 'better-auth/crypto';
import { decodeJwt, decodeProtectedHeader, importJWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { query } from '../real/postgres.ts';
import type { TestSite } from './oauth.ts';

export interface Forge {
  /** The payload of the original token. */
  payload: ReturnType<typeof decodeJwt>;
  header: JWTHeaderParameters;
  sign(claims: object, head?: Partial<JWTHeaderParameters>): Promise<string>;
}

/** Each token equals `good` except for the given fields. */
export async function openForge(site: TestSite, good: string): Promise<Forge> {
  const payload = decodeJwt(good);
  const header = decodeProtectedHeader(good) as JWTHeaderParameters;
  const [row] = await query(site.databaseUrl, `select "privateKey" from auth.jwks where id = '${header.kid}'`);
  const jwk = await symmetricDecrypt({ key: site.config.authSecret, data: JSON.parse(String(row?.privateKey)) });
  const key = await importJWK(JSON.parse(jwk), 'ES256');
  const sign: Forge['sign'] = (claims, head = {}) =>
    new SignJWT({ ...payload, ...claims }).setProtectedHeader({ ...header, ...head }).sign(key);
  return { payload, header, sign };
}
