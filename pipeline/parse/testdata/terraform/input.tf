terraform {
  required_version = ">= 1.0"
}
# web
resource "aws_instance" "web" {
  ami = "a-${var.x}"
  lifecycle {
    ignore_changes = [ami]
  }
  user_data = <<EOT
resource "no" "no" {}
EOT
}
variable "region" { default = "eu" }
module "vpc" {
  source = "./vpc"
}
locals {
  a = 1 // c
}
data "aws_ami" "x" {}
output "ip" { value = aws_instance.web.ip }
provider "aws" { region = var.region }
moved {}
