/** The walls of the house. Each rule says in `comment` why the wall is there. */
const room = (name) => `^src/${name}/`;
const only = (from, allowed, comment, files = []) => ({
  name: `${from}-knows-only-${allowed.join('-') || 'itself'}`,
  comment,
  severity: 'error',
  from: { path: room(from), pathNot: '\\.spec\\.ts$' },
  to: { path: '^src/', pathNot: [...[from, ...allowed].map(room), ...files] },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    only('common', [], 'The ground floor carries everyone, so it may lean on no one.'),
    only('providers', ['common'], 'The catalogue is data and pure functions: usable without Nest, a database or a request.'),
    only('auth', ['common'], 'Both planes ask who is calling; neither may be needed to answer.'),
    only('gateway', ['providers', 'auth', 'common'], 'The data plane must run while the control plane is being changed: it sees its own ports only.'),
    only('admin', ['providers', 'auth', 'common'], 'The control plane stores rules and never runs them.'),
    only('adapters', ['gateway', 'admin', 'providers', 'auth', 'common'], 'Adapters plug ports into tables and queues; nothing else may see both sides.'),
    only('jobs', ['admin', 'auth', 'providers', 'common'], 'Background work reads what the spool and the queue carry, writes what admin shows, and asks again whether its principal may.'),
    only('launcher', ['common', 'admin', 'auth'], 'The launcher starts processes; what they do is not its business. Its doctor signs in at the mail server as mails do.', [
      '^src/jobs/mails/mailer\\.ts$',
    ]),
    {
      name: 'adapters-see-only-ports-of-the-gateway',
      comment: 'An adapter that reaches into a step would turn the port into decoration.',
      severity: 'error',
      from: { path: room('adapters') },
      to: { path: room('gateway'), pathNot: '^src/gateway/(ports\\.ts|models/models-port\\.ts|types/)' },
    },
    {
      name: 'adapters-see-only-entities-of-admin',
      comment: 'The hot path reads rows; it never runs an admin service.',
      severity: 'error',
      from: { path: room('adapters') },
      to: { path: room('admin'), pathNot: '\\.entity\\.ts$' },
    },
    {
      name: 'a-resource-shows-its-siblings-only-its-front-rooms',
      comment: 'Another resource may use the service, the entity and the module; controllers and DTOs are private. `openapi` and `shapes` are what all of them stand on.',
      severity: 'error',
      from: { path: '^src/admin/([^/]+)/' },
      to: { path: '^src/admin/[^/]+/', pathNot: ['^src/admin/($1|openapi|shapes)/', '\\.(service|entity|module)\\.ts$'] },
    },
    {
      name: 'gateway-touches-no-database',
      comment: 'Waiting on PostgreSQL or Redis belongs behind a port.',
      severity: 'error',
      from: { path: '^src/(gateway|providers)/' },
      to: { path: 'node_modules/(typeorm|@nestjs/typeorm|pg|ioredis|bullmq|@nestjs/bullmq)/' },
    },
    {
      name: 'providers-stay-pure',
      comment: 'A descriptor that imports a framework can no longer be read as data.',
      severity: 'error',
      from: { path: room('providers'), pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['npm', 'core'] },
    },
    {
      name: 'one-module-opens-sockets',
      comment: 'Egress checks every address. A second place that dials would be a hole.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/common/egress/', '\\.spec\\.ts$'] },
      to: { path: '^(node:)?(net|tls|dgram|http2|dns|dns/promises)$|node_modules/undici/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'packages-that-dial-have-one-home',
      comment: 'They dial by themselves unless they are given the agent of the egress.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/common/object-store/object-store\\.ts$', '^src/jobs/sinks/otlp/'] },
      to: { path: 'node_modules/(@aws-sdk|@smithy|@opentelemetry)/' },
    },
    {
      name: 'identity-providers-are-called-from-one-file',
      comment: 'These packages fetch by themselves unless they are given the fetch of the egress.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/admin/identity-providers/provider-client\\.service\\.ts$'] },
      to: { path: 'node_modules/(openid-client|oauth4webapi|jose)/' },
    },
    {
      name: 'gateway-processes-carry-no-administration',
      comment: 'Code that a gateway process loads is memory that every request is collected over, and time at every start.',
      severity: 'error',
      from: { path: '^src/main\\.ts$' },
      to: { reachable: true, path: '^src/admin/|node_modules/(typeorm|@nestjs/(typeorm|swagger|platform-fastify)|fastify|class-validator|class-transformer|bullmq|@aws-sdk|@opentelemetry/(?!api/)[^/]+)/' },
    },
    { name: 'no-circles', severity: 'error', comment: 'Two files that need each other are one idea in two places, or a missing third.', from: {}, to: { circular: true } },
    { name: 'no-tests-in-the-house', severity: 'error', comment: 'What ships may not lean on what tests it.', from: { path: '^src/', pathNot: '\\.spec\\.ts$' }, to: { path: '^test/|\\.spec\\.ts$' } },
    { name: 'no-orphans', severity: 'error', comment: 'A file that nobody opens is a file to delete.', from: { orphan: true, path: '^src/', pathNot: '^src/(main|administration|worker)\\.ts$' }, to: {} },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
};
