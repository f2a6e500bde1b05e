import { Cluster } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../common/settings/secret.js';
import { redisQueues } from './redis-queues.js';

const optionsOf = (url: string) => redisQueues(new Secret(url));

describe('redisQueues', () => {
  it('reaches one server, with its account and its database', () => {
    expect(optionsOf('redis://queue:p%40ss@redis.internal:6380/3')).toMatchObject({
      host: 'redis.internal',
      port: 6380,
      username: 'queue',
      password: 'p@ss',
      db: 3,
      tls: undefined,
    });
  });

  it('takes the usual port when none is named, and an address of IPv6', () => {
    expect(optionsOf('redis://[::1]')).toMatchObject({ host: '::1', port: 6379, db: 0 });
  });

  it('encrypts with rediss', () => {
    expect(optionsOf('rediss://redis.internal')).toMatchObject({ tls: {} });
  });

  it('queries Sentinels for the master, encrypted to both with rediss', () => {
    expect(optionsOf('rediss://:secret@one?sentinel=mymaster&node=two:26380')).toMatchObject({
      name: 'mymaster',
      sentinels: [
        { host: 'one', port: 26379 },
        { host: 'two', port: 26380 },
      ],
      password: 'secret',
      enableTLSForSentinelMode: true,
    });
  });

  it('joins a cluster by any of its nodes', () => {
    const cluster = optionsOf('redis://127.0.0.1:1?cluster=true&node=127.0.0.1:2');
    expect(cluster).toBeInstanceOf(Cluster);
    (cluster as Cluster).on('error', () => undefined).disconnect();
  });

  it('lets commands wait for the connection, as workers need it', () => {
    expect(optionsOf('redis://redis.internal')).toMatchObject({ maxRetriesPerRequest: null });
  });
});
