import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readOAuthQuery } from './addresses.ts';

/**
 * A link from one page of signing in to another that keeps what a program has asked for. The router would write the query anew, in
 * its own way, and it would not be the signed one any more.
 */
export function SignInLink({
  to,
  children,
}: {
  to: '/sign-in' | '/sign-up' | '/forgot-password';
  children: ReactNode;
}) {
  const query = readOAuthQuery(location.search);
  return query === undefined ? <Link to={to}>{children}</Link> : <a href={`${to}?${query}`}>{children}</a>;
}
