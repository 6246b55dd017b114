/** Verifies access tokens on Fastify: JWTs that our authorization server has signed (RFC 9068, section 4). */
import fastifyJwt, { type TokenOrHeader } from '@fastify/jwt';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isDatabaseError } from '../db/pool.ts';
import { AppError } from '../lib/errors.ts';
import type { SigningKeys } from './signing-keys.ts';

const ALGORITHM = 'ES256';
/** Clocks of two servers differ by less. */
const LEEWAY_MS = 5000;
const MAX_LENGTH = 4096;
/** The scheme has no case (RFC 9110, section 11.1); the token is made of the signs of RFC 6750, section 2.1. */
const BEARER = /^bearer +([\w.~+/-]+=*)$/i;
const USER_ID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

/** The issuer, audience and algorithm of accepted tokens. */
export interface TokenRules {
  issuer: string;
  /** At least one of these must be in `aud`. */
  audience: string[];
  findKey: SigningKeys['find'];
}

/** The claims of a verified token; claims not listed may be anything. */
export interface AccessTokenClaims {
  sub: string;
  aud: string | string[];
  client_id: unknown;
  jti: unknown;
  scope?: unknown;
  exp: number;
}

/** Verifies the token of the request that it was made for. Rejects with `unauthenticated`, or as the database does. */
export type Verify = () => Promise<AccessTokenClaims>;

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: object;
    user: AccessTokenClaims;
  }
}

export const refuseToken = () =>
  new AppError('unauthenticated', 'The access token is not valid, or has expired. Request a new one.');

/** The credential in an Authorization header of the scheme Bearer; undefined for all else. */
export const parseBearer = (authorization: string): string | undefined =>
  authorization.length <= MAX_LENGTH ? BEARER.exec(authorization)?.[1] : undefined;

/** Gives requests `jwtVerify`, which `verifyToken` calls. */
export async function verifyTokens(app: FastifyInstance, { issuer, audience, findKey }: TokenRules): Promise<void> {
  await app.register(fastifyJwt, {
    // Without a private key nothing can be signed by it.
    secret: {
      public: async (_request: FastifyRequest, token: TokenOrHeader) => {
        const { alg, kid } = 'header' in token ? token.header : token;
        const key = alg === ALGORITHM ? await findKey(kid) : undefined;
        if (key === undefined) throw refuseToken();
        return key;
      },
    },
    decode: { complete: true },
    decoratorName: 'claims',
    verify: {
      algorithms: [ALGORITHM],
      checkTyp: 'at+jwt',
      allowedIss: issuer,
      allowedAud: audience,
      allowedSub: USER_ID,
      requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat', 'jti', 'client_id'],
      clockTolerance: LEEWAY_MS,
      extractToken: ({ headers }) => parseBearer(headers.authorization ?? ''),
    },
  });
}

/** The client only learns that the token is not valid, whatever is wrong with it. */
export async function verifyToken(request: { jwtVerify(): Promise<object> }): Promise<AccessTokenClaims> {
  try {
    return (await request.jwtVerify()) as AccessTokenClaims;
  } catch (error) {
    // A database that does not answer is not the token's fault.
    throw error instanceof AppError || isDatabaseError(error) ? error : refuseToken();
  }
}
