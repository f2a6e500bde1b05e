/** The import rules of the project. Each rule gives its reason in `comment`. */
const room = (name) => `^src/${name}/`;
const only = (from, allowed, comment) => ({
  name: `${from}-knows-only-${allowed.join('-') || 'itself'}`,
  comment,
  severity: 'error',
  from: { path: room(from), pathNot: '\\.spec\\.ts$' },
  to: { path: '^src/', pathNot: [from, ...allowed].map(room) },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    only('common', [], 'The ground floor carries everyone, so it may lean on no one.'),
    only(
      'providers',
      ['common'],
      'The catalogue is data and pure functions: usable without Nest, a database or a request.',
    ),
    only(
      'routing-config',
      ['common'],
      'Both planes read the document; neither may be needed to understand it.',
    ),
    only('egress', ['common'], 'What opens sockets outward knows addresses, not what travels.'),
    only(
      'telemetry',
      ['egress', 'common'],
      'What is sent to a collector is given to it: it knows no table and no request.',
    ),
    only(
      'external-credentials',
      ['egress', 'common'],
      'Token services, secret managers and the identity of the machine know no table, no resource and no request.',
    ),
    only('database', ['common'], 'Connections and units of work know no table of a resource.'),
    only(
      'request-log',
      ['routing-config', 'database', 'egress', 'common'],
      'The request log is written by one plane and read by the other; it needs neither.',
    ),
    only(
      'schema',
      ['admin', 'request-log', 'database', 'common'],
      'Migrations and entities together make the data source.',
    ),
    only(
      'auth',
      ['routing-config', 'request-log', 'common'],
      'Both planes ask who is calling; neither may be needed to answer. A principal carries the rules of its workspace and what it may read of the log.',
    ),
    only(
      'gateway',
      ['egress', 'external-credentials', 'routing-config', 'request-log', 'providers', 'auth', 'common'],
      'The data plane must run while the control plane is being changed: it sees its own ports only.',
    ),
    only(
      'admin',
      [
        'egress',
        'external-credentials',
        'routing-config',
        'request-log',
        'database',
        'providers',
        'auth',
        'common',
      ],
      'The control plane stores rules and never runs them.',
    ),
    only(
      'adapters',
      [
        'gateway',
        'admin',
        'egress',
        'external-credentials',
        'routing-config',
        'request-log',
        'database',
        'providers',
        'auth',
        'common',
      ],
      'Adapters plug ports into tables and queues; nothing else may see both sides.',
    ),
    only(
      'jobs',
      [
        'admin',
        'egress',
        'telemetry',
        'routing-config',
        'request-log',
        'database',
        'auth',
        'providers',
        'common',
      ],
      'Background work reads what the spool and the queue carry, writes what admin shows, and asks again whether its principal may.',
    ),
    {
      name: 'adapters-see-only-ports-of-the-gateway',
      comment: 'An adapter that reaches into a step would turn the port into decoration.',
      severity: 'error',
      from: { path: room('adapters') },
      to: { path: room('gateway'), pathNot: '^src/gateway/(ports\\.ts|types/)' },
    },
    {
      name: 'routing-knows-only-types',
      comment: 'Routing is pure: it knows an attempt function, so its tests need no server.',
      severity: 'error',
      from: { path: '^src/gateway/routing/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/gateway/', pathNot: '^src/gateway/((routing|types)/|ports\\.ts)' },
    },
    {
      name: 'recording-knows-only-types',
      comment:
        'A record is made from the values that steps returned. Meters read events and JSON with the parsers of framing.',
      severity: 'error',
      from: { path: '^src/gateway/recording/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^src/gateway/', pathNot: '^src/gateway/((recording|types|framing)/|ports\\.ts)' },
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
      comment:
        'Another resource may use the service, the entity, the module, guards and interceptors; controllers and DTOs are private. The rooms in the list are what all of them stand on.',
      severity: 'error',
      from: { path: '^src/admin/([^/]+)/' },
      to: {
        path: '^src/admin/[^/]+/',
        pathNot: [
          '^src/admin/($1|controllers|credentials|dto-fields|http|openapi|openid-connect|passwords|slugs)/',
          '\\.(service|entity|module|guard|interceptor)\\.ts$',
        ],
      },
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
      from: {
        path: '^src/',
        pathNot: ['^src/egress/', '^src/common/net/address-classes\\.ts$', '\\.spec\\.ts$'],
      },
      to: {
        path: '^(node:)?(net|tls|dgram|http2|dns|dns/promises)$|node_modules/undici/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'packages-that-dial-have-one-home',
      comment: 'They dial by themselves unless they are given the agent of the egress.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          '^src/request-log/bodies/object-store\\.ts$',
          '^src/jobs/sinks/otlp/',
          '^src/telemetry/',
          // The identity of the machine is behind addresses that the egress refuses.
          '^src/external-credentials/workload-identity/machine-identity\\.ts$',
        ],
      },
      to: { path: 'node_modules/(@aws-sdk|@smithy|@opentelemetry|google-auth-library)/' },
    },
    {
      name: 'identity-providers-are-called-from-one-file',
      comment: 'These packages fetch by themselves unless they are given the fetch of the egress.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/admin/openid-connect/provider-client\\.service\\.ts$'] },
      to: {
        path: 'node_modules/(openid-client|oauth4webapi|jose/dist/webapi/(index|jwks/remote))',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'gateway-processes-carry-no-administration',
      comment:
        'Code that a gateway process loads is memory that every request is collected over, and time at every start.',
      severity: 'error',
      from: { path: '^src/main\\.ts$' },
      to: {
        reachable: true,
        path: '^src/admin/|node_modules/(typeorm|@nestjs/(typeorm|swagger|platform-fastify)|fastify|class-validator|class-transformer|bullmq|@aws-sdk/(?!credential-provider-node/)[^/]+|@opentelemetry/(?!api/)[^/]+)/',
      },
    },
    {
      name: 'no-circles',
      severity: 'error',
      comment: 'Two files that need each other are one idea in two places, or a missing third.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-tests-in-the-house',
      severity: 'error',
      comment: 'What ships may not lean on what tests it.',
      from: { path: '^src/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^test/|\\.spec\\.ts$' },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'A file that nobody opens is a file to delete.',
      from: { orphan: true, path: '^src/', pathNot: '^src/(main|administration|worker)\\.ts$' },
      to: {},
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
