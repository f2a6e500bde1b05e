import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SwaggerModule } from '@nestjs/swagger';
import { buildOpenApi } from './document.js';

const PATH = 'docs';

/** The page loads only resources of this server, and no other page may frame it. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

/** Serves the document at `/openapi.json` and a page to try it at `/docs`. Built on the first request. Call it before `init`. */
export function serveDocs(app: NestFastifyApplication): void {
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onSend', async (request, reply) => {
      if (request.url === `/${PATH}` || request.url.startsWith(`/${PATH}/`))
        reply.header('content-security-policy', CONTENT_SECURITY_POLICY);
    });
  SwaggerModule.setup(PATH, app, () => buildOpenApi(app), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Gatehouse API',
    // The viewer's own header offers to load other documents.
    customCss: '.swagger-ui .topbar { display: none }',
    swaggerOptions: { docExpansion: 'none', filter: true, tryItOutEnabled: true },
  });
}
