package language

// ecosystem is the frameworks of a family of languages that share a manifest.
type ecosystem struct {
	name       string
	languages  []string
	frameworks []framework // those that build on others first
}

// framework is one that is known by any of its packages.
type framework struct {
	name     string
	packages []string
}

// ecosystems in the order in which equals are preferred.
var ecosystems = []*ecosystem{&node, &python, &golang, &rust, &jvm, &ruby, &php, &dotnet, &elixir, &dart}

var node = ecosystem{"node", []string{"javascript", "typescript", "vue", "svelte"}, []framework{
	{"next", []string{"next"}},
	{"nuxt", []string{"nuxt", "nuxt3", "nuxt-edge"}},
	{"remix", []string{"@remix-run/react", "@remix-run/node"}},
	{"gatsby", []string{"gatsby"}},
	{"astro", []string{"astro"}},
	{"sveltekit", []string{"@sveltejs/kit"}},
	{"expo", []string{"expo"}},
	{"react-native", []string{"react-native"}},
	{"angular", []string{"@angular/core", "angular"}},
	{"nestjs", []string{"@nestjs/core", "@nestjs/common"}},
	{"vue", []string{"vue"}},
	{"svelte", []string{"svelte"}},
	{"solid", []string{"solid-js"}},
	{"react", []string{"react"}},
	{"preact", []string{"preact"}},
	{"ember", []string{"ember-source"}},
	{"electron", []string{"electron"}},
	{"fastify", []string{"fastify"}},
	{"koa", []string{"koa"}},
	{"hapi", []string{"@hapi/hapi"}},
	{"hono", []string{"hono"}},
	{"express", []string{"express"}},
}}

var python = ecosystem{"python", []string{"python"}, []framework{
	{"django", []string{"django"}},
	{"fastapi", []string{"fastapi"}},
	{"flask", []string{"flask"}},
	{"starlette", []string{"starlette"}},
	{"tornado", []string{"tornado"}},
	{"aiohttp", []string{"aiohttp"}},
	{"pyramid", []string{"pyramid"}},
	{"sanic", []string{"sanic"}},
	{"litestar", []string{"litestar"}},
	{"bottle", []string{"bottle"}},
	{"streamlit", []string{"streamlit"}},
	{"scrapy", []string{"scrapy"}},
}}

var golang = ecosystem{"go", []string{"go"}, []framework{
	{"gin", []string{"github.com/gin-gonic/gin"}},
	{"echo", []string{"github.com/labstack/echo"}},
	{"fiber", []string{"github.com/gofiber/fiber"}},
	{"chi", []string{"github.com/go-chi/chi"}},
	{"beego", []string{"github.com/beego/beego", "github.com/astaxie/beego"}},
	{"buffalo", []string{"github.com/gobuffalo/buffalo"}},
	{"kratos", []string{"github.com/go-kratos/kratos"}},
	{"go-zero", []string{"github.com/zeromicro/go-zero"}},
	{"gorilla", []string{"github.com/gorilla/mux"}},
}}

var rust = ecosystem{"rust", []string{"rust"}, []framework{
	{"actix", []string{"actix-web"}},
	{"axum", []string{"axum"}},
	{"rocket", []string{"rocket"}},
	{"warp", []string{"warp"}},
	{"tauri", []string{"tauri"}},
	{"leptos", []string{"leptos"}},
	{"yew", []string{"yew"}},
	{"bevy", []string{"bevy"}},
	{"poem", []string{"poem"}},
}}

var jvm = ecosystem{"jvm", []string{"java", "kotlin", "scala", "groovy"}, []framework{
	{"spring-boot", []string{"spring-boot-starter", "spring-boot-starter-web", "spring-boot-starter-parent", "spring-boot-starter-webflux", "org.springframework.boot", "spring-boot"}},
	{"quarkus", []string{"io.quarkus"}},
	{"micronaut", []string{"io.micronaut", "io.micronaut.application"}},
	{"spring", []string{"org.springframework", "spring-core", "spring-context"}},
	{"ktor", []string{"io.ktor", "io.ktor.plugin"}},
	{"dropwizard", []string{"io.dropwizard"}},
	{"vertx", []string{"io.vertx"}},
	{"play", []string{"com.typesafe.play"}},
	{"android", []string{"com.android.application", "com.android.library"}},
}}

var ruby = ecosystem{"ruby", []string{"ruby"}, []framework{
	{"rails", []string{"rails"}},
	{"hanami", []string{"hanami"}},
	{"sinatra", []string{"sinatra"}},
	{"grape", []string{"grape"}},
	{"jekyll", []string{"jekyll"}},
}}

var php = ecosystem{"php", []string{"php"}, []framework{
	{"laravel", []string{"laravel/framework"}},
	{"symfony", []string{"symfony/framework-bundle", "symfony/symfony"}},
	{"slim", []string{"slim/slim"}},
	{"cakephp", []string{"cakephp/cakephp"}},
	{"codeigniter", []string{"codeigniter4/framework", "codeigniter/framework"}},
	{"yii", []string{"yiisoft/yii2", "yiisoft/yii"}},
	{"laminas", []string{"laminas/laminas-mvc"}},
}}

var dotnet = ecosystem{"dotnet", []string{"csharp", "fsharp", "vbnet"}, []framework{
	{"blazor", []string{"Microsoft.AspNetCore.Components.WebAssembly", "Microsoft.NET.Sdk.BlazorWebAssembly"}},
	{"aspnet", []string{"Microsoft.NET.Sdk.Web", "Microsoft.AspNetCore.App", "Microsoft.AspNetCore"}},
	{"maui", []string{"UseMaui"}},
	{"wpf", []string{"UseWPF"}},
}}

var elixir = ecosystem{"elixir", []string{"elixir"}, []framework{
	{"phoenix", []string{":phoenix"}},
	{"nerves", []string{":nerves"}},
}}

var dart = ecosystem{"dart", []string{"dart"}, []framework{
	{"flutter", []string{"flutter"}},
}}
